printed = """
tracing (3,)
tracing (2, 2)
"""
times = 1 + 1
stepped = 4
steps_error = "TypeError"
power_programs = 3
mapped = [5, 3, 2]
kept = "C)"
