"""The structural diff of two revisions: changes, without any judgement."""
