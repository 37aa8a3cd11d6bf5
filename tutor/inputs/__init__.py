"""Hidden inputs: parse what authors write under `inputs:` and `sizes:`, and draw it."""
