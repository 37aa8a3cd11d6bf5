"""What every command may say of how it was used."""


class UsageError(Exception):
    """Something asked for that cannot be done; the message says what to do instead."""
