"""Names and numbers that checks and sandboxes use alike."""

HELD_OUT = "held out"
"""The input that holds examples to predict for, sent after the training: no expression can name
it."""

KEY_USES = ("random_bits", "random_split", "random_fold_in")
"""What a key can be used for: to draw from it, to split it, to fold a number into it."""

KEY_WORDS = 4
"""Numbers in the data of a key, at most: shorter ones are filled up with -1."""
