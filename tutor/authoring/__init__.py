"""Tools for pack authors: new packs, lint, trials, mutants and proofs."""
