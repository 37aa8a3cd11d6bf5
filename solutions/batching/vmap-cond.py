# A predicate of each row's own: both sides run for all five. A shared one, or one row at a
# time: a real branch.
roots = 5
shared_roots = 0
mapped_roots = 2
if_error = "TracerBoolConversionError"
pred_error = "TypeError"
branch_error = "TypeError"
slope = "c"
# The slowest row sets the number of rounds; the others keep what they have.
laps = {"reported": [3, 1, 6], "rounds": 6}
guarded = {"guarded": 100, "safe": 3}
