"""Hidden inputs: what an author may write under `inputs:` and `sizes:`, and drawing it."""
