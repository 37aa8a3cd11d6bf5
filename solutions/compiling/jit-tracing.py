# Python runs while the function is traced, once for each shape and dtype. Whatever it reads besides
# the arguments is a constant from then on, and whatever it writes, it writes once.
printed = "tracing ()\nx is 2\nx is 3"
rate_used = 9.0
steps_counted = 1
same_noise = True
params_after = 4.0
leaked = "UnexpectedTracerError"
formatted = "TypeError"
lines = 4
