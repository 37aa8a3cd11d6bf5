printed = """
tracing ()
x is 2
x is 3
"""
rate_used = 9
steps_counted = 1
same_noise = True
params_after = 4
leaked = "jax.errors.UnexpectedTracerError"
formatted = "builtins.TypeError"
lines = 2 * 2
