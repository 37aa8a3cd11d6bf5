"""Rules for the texts that lessons share."""

from collections.abc import Iterator

from tutor.authoring.lint_rules import CODE_COLUMNS, LessonRemark, wide_message, wide_rows
from tutor.pack.folder import Folder
from tutor.pack.problems import BadSource
from tutor.pack.shared_texts import FOLDER, SharedTexts, file_of_text


def remarks_on_texts(
    folder: Folder, texts: SharedTexts, *, all_read: bool
) -> Iterator[tuple[str, LessonRemark]]:
    """Yield remarks, each with its file.

    **Arguments:** `texts`: with the names that lessons use; `all_read`: whether every lesson has
    been read.
    """
    names = texts.names
    for path in sorted((folder.root / FOLDER).glob("*.md")):
        file = f"{FOLDER}/{path.name}"
        if path.stem not in names:
            message = "this name cannot be used in a lesson"
            remedy = "use lower-case words joined by hyphens, such as reading-shapes.md"
            yield file, LessonRemark("unused-text", (1, 1), message, remedy)
        elif all_read and path.stem not in texts.used:
            remedy = f"write {{{{{path.stem}}}}} on a line of a lesson, or delete it"
            yield file, LessonRemark("unused-text", (1, 1), "no lesson uses this text", remedy)
    for name in sorted(texts.used):
        yield from ((file_of_text(name), remark) for remark in _remarks(texts, name))


def _remarks(texts: SharedTexts, name: str) -> Iterator[LessonRemark]:
    try:
        text = texts.get(name) or ""
    except BadSource:
        return  # reported as a problem of the lesson
    if (at := text.find("TODO")) >= 0:
        before = text[:at]
        position = before.count("\n") + 1, at - before.rfind("\n")
        yield LessonRemark("unwritten", position, "a TODO is left", "write it, and remove the TODO")
    for number, row in wide_rows(text):
        position = number, CODE_COLUMNS + 1
        yield LessonRemark("wide-code", position, wide_message(row), "break the line")
