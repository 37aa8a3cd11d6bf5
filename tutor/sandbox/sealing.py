"""Encrypted compiled programs: readable only by code that would compile the same program.

A program is stored under the hash of its key in JAX's compilation cache, and encrypted with that
key. The key is a hash of all compiler inputs, including the program's text. So a process that gets
the programs of a solution can use those that it would otherwise compile, and learns nothing from
the others, not even their names.
"""

import hashlib

Sealed = dict[str, bytes]
"""Encrypted programs by the hash of their keys."""

_STREAM, _NAME = b"jaxtutor program\0", b"jaxtutor program's name\0"


def name(key: str) -> str:
    """Return the name under which the program with this key is stored."""
    return hashlib.sha256(_NAME + key.encode()).hexdigest()


def sealed(key: str, program: bytes) -> bytes:
    """Encrypt a program, or decrypt one that was encrypted with the same key."""
    stream = hashlib.shake_256(_STREAM + key.encode()).digest(len(program))
    both = int.from_bytes(program, "little") ^ int.from_bytes(stream, "little")
    return both.to_bytes(len(program), "little")
