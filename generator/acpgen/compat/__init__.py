"""The compatibility check: who breaks between two revisions of a schema, and the proof.

In: two revisions, a policy, waivers. Out: findings, each with the rule, the effect, the receivers that break and a message that proves it.
`diff` notes changes, `rules` judges them, `protocol` asks the prover, `repair` turns findings into edits, `history` repeats it by step.
"""
