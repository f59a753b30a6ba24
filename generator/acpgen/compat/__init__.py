"""The compatibility check: who breaks between two revisions of a schema, and the proof."""
