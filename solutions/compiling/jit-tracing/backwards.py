lines = 4
formatted = "TypeError"
leaked = "JAXTypeError"
params_after = 8 / 2
same_noise = True
steps_counted = 1.0
rate_used = 10 - 1
printed = "tracing ()\nx is 2 \nx is 3\n"
