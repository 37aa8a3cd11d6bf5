"""A bounded record of the output of untrusted code."""

import re

from tutor.foreign.plain_text import inert
from tutor.sandbox.limits import KEPT_OUTPUT

_LOG = re.compile(
    r"^(?:[IWEF]\d{4} [\d:.]+ +\d+ [\w./-]+\.(?:cc|h):\d+\] .*"
    r"|\d{4}-\d\d-\d\d [\d:.]+: [IWEF] .*"
    r"|WARNING: All log messages before absl::InitializeLog.*)\n?",
    re.MULTILINE,
)
"""Lines of XLA's own log."""


def without_logs(text: str) -> str:
    """Return what was printed without the log of XLA, which speaks of its insides."""
    return _LOG.sub("", text)


class Capture:
    """The first and last part of a stream, and its total length.

    **Arguments:** `keep`: bytes to keep at each end.
    """

    def __init__(self, keep: int = KEPT_OUTPUT) -> None:
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
        """Return what was kept, with a line in place of what was left out."""
        cut = self.total - len(self._head) - len(self._tail)
        head = bytes(self._head)
        tail = bytes(self._tail)
        if cut <= 0:
            return inert((head + tail).decode("utf-8", "replace"))
        middle = f"\n[… {cut:,} bytes left out …]\n"
        return inert(head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace"))
