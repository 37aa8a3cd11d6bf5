"""Random streams, each seeded by its purpose, so that adding one changes no other."""

import zlib

from tutor.arrays import np


def word(text: str) -> int:
    """Return a stable number for a name (`hash` differs from process to process)."""
    return zlib.crc32(text.encode())


def generator(seed: tuple[int, ...]) -> "np.random.Generator":
    return np.random.default_rng(np.random.SeedSequence(list(seed)))
