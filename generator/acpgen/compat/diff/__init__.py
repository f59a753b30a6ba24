"""What differs between two revisions: structure to changes, without any judgement."""
