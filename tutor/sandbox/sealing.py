"""Compiled programs that only he can read who could have asked for them.

A program is kept under the hash of the key by which JAX asks for it, and enciphered with that key.
The key is itself a hash of all that goes into the compiler, the program's own text first. So a
process that is given the programs of a solution can use those which it would have had compiled
otherwise, and learns nothing from the others, not even their names.
"""

import hashlib

Sealed = dict[str, bytes]
"""Programs by the hash of their keys."""

_STREAM, _NAME = b"jaxtutor program\0", b"jaxtutor program's name\0"


def name(key: str) -> str:
    """Where a program of this key is found."""
    return hashlib.sha256(_NAME + key.encode()).hexdigest()


def sealed(key: str, program: bytes) -> bytes:
    """The program enciphered; `sealed` with the same key again, the program."""
    stream = hashlib.shake_256(_STREAM + key.encode()).digest(len(program))
    both = int.from_bytes(program, "little") ^ int.from_bytes(stream, "little")
    return both.to_bytes(len(program), "little")
