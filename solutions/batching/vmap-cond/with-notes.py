# Answers with the reasoning next to them.
roots = len_of_xs = 5  # every row goes through both sides
shared_roots = 0  # False for all: root is not run
mapped_roots = 2  # a loop: 4 and 9
if_error = "TracerBoolConversionError"  # vmap traces
pred_error = "TypeError"  # one decision, one Boolean
branch_error = "TypeError"  # float32 against int32
slope = "C"
laps = {
    "reported": [3, 1, 6],  # log2 of each
    "rounds": 6,  # the largest of them
}
guarded = {
    "guarded": 100,  # -1 never converges
    "safe": 3,
}
