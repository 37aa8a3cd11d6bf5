"""Where the parts of a lesson are in its file, for messages about faults found at run time."""

from functools import cached_property

from tutor.inputs.datasets import READING
from tutor.inputs.drawing import DRAWING
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack.folder import Folder
from tutor.pack.pack_reader import file_of
from tutor.pack.problems import BadSource
from tutor.pack.releases import applies
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, parse
from tutor.report import Fault, Report
from tutor.sandbox.protocol import HARNESS


def node_at(root: MappingNode, *path: str | int) -> Node:
    """Return the node at a path of keys and numbers, or the last one that exists on the way.
    Numbers of checks and mistakes count those for the installed release of JAX."""
    found: Node = root
    for step in path:
        below: Node | None = None
        if isinstance(found, MappingNode) and isinstance(step, str):
            below = found.get(step)
        elif isinstance(found, SequenceNode) and isinstance(step, int):
            items = [one for one in found.items if _for_this_release(one)]
            below = items[step] if step < len(items) else None
        if below is None:
            break
        found = below
    return found


def _for_this_release(item: Node) -> bool:
    releases = item.get("jax") if isinstance(item, MappingNode) else None
    try:
        return not isinstance(releases, ScalarNode) or applies(str(releases.value))
    except ValueError:  # the file has changed since the lesson was read
        return True


class Places:
    """Finds parts of a lesson, each as `file:line`; as `file` if the file can no longer be read.

    **Arguments:** `within_pack`: whether to name the file relative to the pack, so that no message
    tells where that is on this machine.
    """

    def __init__(self, pack: Pack, lesson: Lesson, *, within_pack: bool = False) -> None:
        self._folder = Folder(pack.root)
        self._lesson = lesson
        self._file = file_of(lesson.track, lesson.id)
        self._shown = self._file if within_pack else self._folder.shown(self._file)

    def of(self, *path: str | int) -> str:
        """Return the place of a node; see `node_at`."""
        return self._at(node_at(self._root, *path).line) if self._root is not None else self._shown

    def of_check(self, title: str, *keys: str) -> str:
        """Return the place of the first of these keys that the check has, by default of its
        expression."""
        for number, check in enumerate(self._lesson.checks):
            if check.title == title and self._root is not None:
                node = node_at(self._root, "checks", number)
                if isinstance(node, MappingNode):
                    given = [found for key in (*keys, check.kind) if (found := node.get(key))]
                    return self._at(given[0].line if given else node.line)
        return self.of("survives")  # the only check that is not in the file

    def of_fault(self, report: Report, fault: Fault) -> str:
        """Return the place of a fault of the pack: the line of its code that raised, the input that
        could not be drawn, the data file that cannot be used, or the check."""
        if self._root is None:
            return self._shown
        if fault.running.startswith(READING):
            return self.of("data", fault.running.removeprefix(READING), "file")
        if fault.running.startswith(DRAWING):
            name, _, title = fault.running.removeprefix(DRAWING).partition(" of ")
            return self._of_input(name, title)
        if line := self._in_the_code(self._root, fault):
            return self._at(line)
        result = next((check for check in report.checks if check.fault is fault), None)
        return self.of_check(result.name, "expect") if result is not None else self._shown

    def _of_input(self, name: str, title: str) -> str:
        for number, check in enumerate(self._lesson.checks):
            if check.title == title and (name in check.inputs or name not in self._lesson.inputs):
                return self.of("checks", number, "inputs", name)
        return self.of("inputs", name)

    def _in_the_code(self, root: MappingNode, fault: Fault) -> int:
        """Return the line in the file; the reference is `torch`, a blank line and `harness`."""
        line = fault.frames[-1].line if fault.frames else fault.line
        if line is None:
            return 0
        before = self._lesson.torch.count("\n") + 2
        rows = [("torch", line), ("harness", line - before)]
        if fault.running == HARNESS:
            rows = [("jax_harness", line)]
        for key, row in rows:
            block = root.get(key)
            if isinstance(block, ScalarNode) and 1 <= row <= str(block.value).count("\n") + 1:
                return block.position(row, 1)[0]
        return 0

    @cached_property
    def _root(self) -> MappingNode | None:
        try:
            return parse(self._folder.read(self._file), self._shown)[0]
        except BadSource:
            return None

    def _at(self, line: int) -> str:
        return f"{self._shown}:{line}"


def pack_fault(report: Report) -> Fault | None:
    """Return the pack's fault that kept an answer from being judged, if there is one."""
    faults = [report.fault, *(check.fault for check in report.checks)]
    return next((f for f in faults if f is not None and f.code == "broken-pack"), None)


def locate(pack: Pack, lesson: Lesson, report: Report, fault: Fault) -> str:
    """Return the place of a fault of the pack; see `Places`."""
    return Places(pack, lesson).of_fault(report, fault)
