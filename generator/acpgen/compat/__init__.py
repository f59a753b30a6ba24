"""The compatibility check: who breaks between two revisions of a schema, with proof.

Input: two revisions, a policy and waivers. Output: findings, each with its rule, effect, the receivers that break, and a witness
message. `diff` detects changes, `rules` classifies them, `protocol` calls the prover, `repair` turns findings into edits, `history`
repeats the check for each step.
"""
