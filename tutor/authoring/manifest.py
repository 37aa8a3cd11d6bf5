"""Add a lesson to the text of a `pack.yaml`, keeping the author's comments and layout.

The position comes from the parsed nodes; the new text must parse to the intended manifest.
"""

import msgspec

from tutor.manifest import Manifest, Track
from tutor.pack.problems import BadSource
from tutor.pack.struct_reader import StructReader
from tutor.pack.yaml_nodes import MappingNode, ScalarNode, SequenceNode, parse, resolve


def with_lesson(
    source: bytes, manifest: Manifest, track: str, lesson: str, title: str
) -> bytes | None:
    """Return the manifest's text with a lesson added at the end of a track, or in a new last track.

    **Arguments:** `manifest`: `source`, parsed; `title`: of the track, if it is new.

    **Returns:** the text; None if it is laid out in a way that cannot be edited.
    """
    root, _ = parse(source, "")
    tracks = _sequence(root, "tracks")
    index = next((n for n, one in enumerate(manifest.tracks) if one.id == track), None)
    mark = b"\xef\xbb\xbf" if source.startswith(b"\xef\xbb\xbf") else b""
    lines = source[len(mark) :].decode().splitlines(keepends=True)
    if index is None:
        added = Track(id=track, title=title, lessons=(lesson,))
        new_tracks = (*manifest.tracks, added)
        new = _with_track(lines, root, tracks, added)
    else:
        one = manifest.tracks[index]
        changed = msgspec.structs.replace(one, lessons=(*one.lessons, lesson))
        new_tracks = (*manifest.tracks[:index], changed, *manifest.tracks[index + 1 :])
        node = tracks.items[index]
        assert isinstance(node, MappingNode)
        new = _with_item(lines, _sequence(node, "lessons"), lesson)
    text = mark + "".join(new).encode()
    expected = msgspec.structs.replace(manifest, tracks=new_tracks)
    return text if _read(text) == expected else None


def _with_item(lines: list[str], items: SequenceNode, lesson: str) -> list[str]:
    last = items.items[-1]
    assert isinstance(last, ScalarNode)
    row = lines[last.line - 1]
    if _character(lines, items) == "[":
        end = last.column - 1 + len(last.written or str(last.value)) + (last.style is not None)
        row = f"{row[:end]}, {yaml_string(lesson)}{row[end:]}"
        return [*lines[: last.line - 1], row, *lines[last.line :]]
    line = f"{' ' * (items.column - 1)}- {yaml_string(lesson)}"
    return _after(lines, last.line, [line])


def _with_track(
    lines: list[str], root: MappingNode, tracks: SequenceNode, added: Track
) -> list[str]:
    indent = " " * (tracks.column - 1)
    block = [
        f"{indent}- id: {yaml_string(added.id)}",
        f"{indent}  title: {yaml_string(added.title)}",
        f"{indent}  lessons:",
        f"{indent}    - {yaml_string(added.lessons[0])}",
    ]
    below = [key.line for key, _ in root.entries if key.line > tracks.line]
    last = min(below) - 1 if below else len(lines)
    while not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#"):
        last -= 1
    return _after(lines, last, block)


def yaml_string(text: str) -> str:
    """Return a YAML scalar for a string, quoted if it would be read as another type."""
    return text if resolve(text) == text else f"'{text}'"


def _after(lines: list[str], number: int, added: list[str]) -> list[str]:
    """Return the lines with more after line `number`, using the same line endings."""
    before = lines[:number]
    ending = lines[0][len(lines[0].rstrip("\r\n")) :] or "\n"
    if not before[-1].endswith(("\n", "\r")):
        before[-1] += ending
    return [*before, *(line + ending for line in added), *lines[number:]]


def _character(lines: list[str], node: SequenceNode) -> str:
    return lines[node.line - 1][node.column - 1 : node.column]


def _sequence(node: MappingNode, key: str) -> SequenceNode:
    found = node.get(key)
    assert isinstance(found, SequenceNode), "the manifest has been validated"
    return found


def _read(text: bytes) -> Manifest | None:
    try:
        node, problems = parse(text, "")
    except BadSource:
        return None
    found: Manifest | None = StructReader("").struct(Manifest, node)
    return None if problems else found
