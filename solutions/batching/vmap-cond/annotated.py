"""Annotated assignments, as in typed code."""

roots: int = 5
shared_roots: int = 0
mapped_roots: int = 2
if_error: str = "TracerBoolConversionError"
pred_error: str = "TypeError"
branch_error: str = "TypeError"
slope: str = "c"
laps: dict = {"reported": [3, 1, 6], "rounds": 6}
guarded: dict = {"guarded": 100, "safe": 3}
