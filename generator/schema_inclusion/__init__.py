"""Language mode: schemas as formulas, a prover of inclusion, and witnesses that the judge has confirmed."""
