"""What lint rules read and give: a lesson with its YAML, and remarks."""

from pathlib import Path

from msgspec import Struct

from tutor.authoring.proofs import State
from tutor.lesson import Lesson
from tutor.pack.places import node_at
from tutor.pack.yaml_nodes import MappingNode, Node

Finding = tuple[Node | tuple[int, int], str, str]
"""Location (a node, or line and column), message, and remedy."""


class Remark(Struct, frozen=True, order=True):
    """Something that could be better, and where. `code` is stable and meant for programs."""

    file: str
    line: int
    column: int
    code: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.code}: {self.message}; {self.remedy}"


class NodeRemark(Struct, frozen=True):
    """A remark on a node of the lesson. `path`: keys and numbers, such as ("checks", 3)."""

    path: tuple[str | int, ...]
    code: str
    message: str
    remedy: str


class Page(Struct, frozen=True):
    """A lesson with its YAML.

    `solution`: None if the pack has none; `schema`: whether the schema in the pack at `root` is
    that of this version, None if there is none; `proof`: None if the pack records no proofs;
    `marked`: whether the solution has marked regions.
    """

    lesson: Lesson
    node: MappingNode
    text: str
    solution: str | None
    root: Path
    schema: bool | None
    proof: State | None = None
    marked: bool = False

    def at(self, *path: str | int) -> Node:
        """Return the node at a path of keys and numbers, or the last one that exists on the way."""
        return node_at(self.node, *path)
