"""Other ways to write the same answers: arithmetic, tuples, base classes, capitals."""

roots = 2 + 3
shared_roots = 0 * 5
mapped_roots = 2.0
if_error = "jax.errors.TracerBoolConversionError"
pred_error = "builtins.TypeError"
branch_error = "TypeError"
slope = "C)"
laps = {"rounds": 6, "reported": (3, 1, 6)}
guarded = {"safe": 3, "guarded": 100}
