"""A certificate of what a learner's code for a track was shown to do: as data, and as Markdown.

It holds the code itself, so that whoever collects it can run it again under other seeds. Nothing
else about it can be trusted: it was written on the learner's machine.
"""

import datetime as dt
import hashlib

import msgspec
from msgspec import Struct

FORMAT = 1
MAX_BYTES = 16 << 20


class ProvedLesson(Struct, frozen=True):
    """A lesson whose checks all passed under every seed. `sha256` is that of the code's UTF-8;
    `hints` counts those taken."""

    id: str
    title: str
    checks: tuple[str, ...]
    seeds: tuple[int, ...]
    devices: str
    hints: int
    sha256: str
    code: str

    @property
    def intact(self) -> bool:
        """Whether the code is the one that was hashed."""
        return digest(self.code) == self.sha256


class Certificate(Struct, frozen=True, kw_only=True):
    """What was proved of a track. `known` are lessons that its review stands for, `skipped` those
    that need a package that is not installed."""

    format: int = FORMAT
    name: str = ""
    pack: str
    pack_title: str
    pack_version: str = ""
    track: str
    track_title: str
    issued: dt.datetime
    lessons: tuple[ProvedLesson, ...]
    known: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    versions: dict[str, str] = {}

    def to_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    @staticmethod
    def from_json(data: bytes) -> "Certificate":
        """Read a certificate.

        Raises:
            ValueError: it is none, or of a newer format.
        """
        if len(data) > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES >> 20} MiB")
        try:
            found = msgspec.json.decode(data, type=Certificate)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ValueError(f"not a certificate: {error}") from None
        if found.format > FORMAT:
            raise ValueError(f"format {found.format} is newer than this jaxtutor")
        return found

    def to_markdown(self) -> str:
        """Return the certificate to be read: without the code."""
        checks = sum(len(lesson.checks) for lesson in self.lessons)
        seeds = max((len(lesson.seeds) for lesson in self.lessons), default=0)
        whose = f"of {_escaped(self.name)}" if self.name else ""
        lines = [
            f"# {_escaped(self.track_title)}",
            "",
            f"{_escaped(self.pack_title)} {_escaped(self.pack_version)}".strip() + ".",
            f"On {self.issued:%Y-%m-%d}, the code {whose} for these lessons was run against their "
            f"hidden checks, with inputs drawn anew for each of {seeds} seeds, and passed "
            f"all {checks}.".replace("  ", " "),
            "",
            "| lesson | checks | seeds | hints taken | SHA-256 of the code |",
            "|---|---|---|---|---|",
        ]
        for lesson in self.lessons:
            numbers = ", ".join(map(str, lesson.seeds))
            lines.append(
                f"| {_escaped(lesson.title)} (`{lesson.id}`) | {len(lesson.checks)} | {numbers} | "
                f"{lesson.hints} | `{lesson.sha256[:16]}…` |"
            )
        if self.known:
            known = ", ".join(f"`{name}`" for name in self.known)
            lines += ["", f"Known from the review, and not run: {known}."]
        if self.skipped:
            skipped = ", ".join(f"`{name}`" for name in self.skipped)
            lines += ["", f"Skipped, because a package is not installed: {skipped}."]
        lines += ["", "## What passed", ""]
        for lesson in self.lessons:
            names = "; ".join(_escaped(name) for name in lesson.checks)
            lines.append(f"- **{_escaped(lesson.title)}**, on {lesson.devices}: {names}")
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines += ["", f"Versions: {versions}.", ""]
        return "\n".join(lines)


def digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in " ".join(text.split()))
