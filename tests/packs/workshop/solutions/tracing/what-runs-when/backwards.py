# The questions in another order, with names in full.
kept = "c)"
mapped = 5, 3, 2
power_programs = 4 - 1
steps_error = "jax.errors.TracerIntegerConversionError"
stepped = 5.0 - 1
times = 2
printed = "tracing (3,)\n" "tracing (2, 2)\n"
