"""What foreign code printed: bounded, and made harmless to show."""

import unicodedata


class Capture:
    """Keeps the first and the last part of a stream and counts the rest.

    **Arguments:** `keep`: bytes kept at each end.
    """

    def __init__(self, keep: int = 32 << 10) -> None:
        self.total = 0
        self._keep = keep
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._keep - len(self._head)
        self._head += data[:room]
        self._tail += data[room:][-self._keep :] if room < len(data) else b""
        if len(self._tail) > self._keep:
            del self._tail[: -self._keep]

    def text(self) -> str:
        """What was kept, with a line where something is missing."""
        cut = self.total - len(self._head) - len(self._tail)
        head = bytes(self._head)
        tail = bytes(self._tail)
        if cut <= 0:
            return inert((head + tail).decode("utf-8", "replace"))
        middle = f"\n[… {cut:,} bytes left out …]\n"
        return inert(head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace"))


def inert(text: str) -> str:
    """`text` with control characters shown, not obeyed: an escape sequence becomes `␛[31m`."""
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """`inert`, and line ends shown too: for names, which may hold anything."""
    return inert(text).replace("\n", "␊").replace("\t", "␉")


def _shown(character: str) -> str:
    if character in "\n\t" or character.isprintable():
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return "�"
    return character
