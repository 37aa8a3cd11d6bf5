printed = "tracing (3,)\ntracing (2, 2)"
times = 2
stepped = 4.0
steps_error = "TracerIntegerConversionError"
power_programs = 3
mapped = (5, 3, 2)
kept = "c"
