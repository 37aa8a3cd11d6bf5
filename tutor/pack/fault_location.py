"""Locating a fault of a pack in its files, for the author."""

from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.pack.pack_reader import file_of
from tutor.pack.problems import BadPack, BadSource
from tutor.pack.yaml_nodes import MappingNode, Node, ScalarNode, SequenceNode, read
from tutor.report import Fault, Report
from tutor.sandbox.protocol import HARNESS


def pack_fault(report: Report) -> Fault | None:
    """Return the pack's fault that kept an answer from being judged, if there is one."""
    faults = [report.fault, *(check.fault for check in report.checks)]
    return next((f for f in faults if f is not None and f.code == "broken-pack"), None)


def locate(pack: Pack, lesson: Lesson, report: Report, fault: Fault) -> str:
    """Return `file:line` of a fault: the line of the pack's code that raised, or the check; without
    a line if the file can no longer be read."""
    path = pack.root / file_of(lesson.track, lesson.id)
    try:
        node, _ = read(path, str(path))
    except (BadPack, BadSource, OSError):
        return str(path)
    line = _in_the_code(node, lesson, fault) or _of_the_check(node, lesson, report, fault)
    return f"{path}:{line}" if line else str(path)


def _in_the_code(node: MappingNode, lesson: Lesson, fault: Fault) -> int:
    """Return the line in the file; the reference is `torch`, a blank line and `harness`."""
    line = fault.frames[-1].line if fault.frames else fault.line
    if line is None:
        return 0
    before = lesson.torch.count("\n") + 2
    rows = [("torch", line), ("harness", line - before)]
    if fault.running == HARNESS:
        rows = [("jax_harness", line)]
    for key, row in rows:
        block = node.get(key)
        if isinstance(block, ScalarNode) and 1 <= row <= str(block.value).count("\n") + 1:
            return block.position(row, 1)[0]
    return 0


def _of_the_check(node: MappingNode, lesson: Lesson, report: Report, fault: Fault) -> int:
    result = next((check for check in report.checks if check.fault is fault), None)
    checks: Node | None = node.get("checks")
    if result is None or not isinstance(checks, SequenceNode):
        return 0
    for check, item in zip(lesson.checks, checks.items, strict=False):
        if check.title == result.name and isinstance(item, MappingNode):
            return (item.get("expect") or item.get(check.kind) or item).line
    return 0
