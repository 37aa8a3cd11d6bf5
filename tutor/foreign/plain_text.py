"""Making untrusted text safe to show in a terminal, a page or a message."""

import unicodedata


def inert(text: str) -> str:
    """Return `text` with visible control characters: an escape sequence becomes `␛[31m`."""
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return `inert` text on one line, with visible line breaks: for names."""
    return inert(text).replace("\n", "␊").replace("\t", "␉")


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with an ellipsis if something was left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def quoted_code(code: str, most: int = 200) -> str:
    """Return code on one line, in backticks, for a message."""
    return f"`{cut(' '.join(code.split()), most)}`"


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
