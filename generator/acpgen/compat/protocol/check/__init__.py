"""The check of two revisions: pairs of messages are compared, and each change becomes a finding with its proof."""
