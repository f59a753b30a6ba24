"""Tests an agent, or a client, by talking to it: what breaks a demand of the specification is a finding with its transcript."""
