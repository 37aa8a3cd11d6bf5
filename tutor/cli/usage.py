"""What every command may say of how it was used."""

import argparse


class UsageError(Exception):
    """Something asked for that cannot be done; the message says what to do instead."""


def number(text: str) -> int:
    """How many: for argparse."""
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 100000")
    return int(text)


def seed(text: str) -> int:
    """A seed: for argparse."""
    if not text.isascii() or not text.isdigit() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to 2**64 - 1")
    return int(text)
