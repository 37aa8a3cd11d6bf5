"""A lesson as it is written down, for remarks on it."""

from pathlib import Path

from msgspec import Struct

from tutor.lesson import Lesson
from tutor.pack.yaml_nodes import MappingNode, Node, SequenceNode

Said = tuple[Node | tuple[int, int], str, str]
"""Where, what, and what to do about it."""


class Page(Struct, frozen=True):
    """A lesson and how it is written down.

    `solution`: the pack's own, None if it has none; `schema`: whether the schema that lies in the
    pack at `root` is that of this version, None if there is none.
    """

    lesson: Lesson
    node: MappingNode
    text: str
    solution: str | None
    root: Path
    schema: bool | None

    def at(self, *path: str | int) -> Node:
        """The node at a path of keys and numbers, as far as there is one."""
        found: Node = self.node
        for step in path:
            below: Node | None = None
            if isinstance(found, MappingNode) and isinstance(step, str):
                below = found.get(step)
            elif (
                isinstance(found, SequenceNode)
                and isinstance(step, int)
                and step < len(found.items)
            ):
                below = found.items[step]
            if below is None:
                break
            found = below
        return found
