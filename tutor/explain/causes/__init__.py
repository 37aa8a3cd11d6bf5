"""What may have made an answer wrong: cheap guesses at expected and actual arrays."""

CAUSES: dict[str, tuple[str, ...]] = {
    "transposed": ("axes",),
    "factor": ("factor",),
    "sign": (),
}
"""Every cause by name, with the fields that it fills in."""
