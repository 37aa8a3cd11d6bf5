"""`export/LESSON`: submissions as JPlag and MOSS take them.

    export/double/base/double.py                 the starter, which does not count
    export/double/submissions/NAME/double.py     a folder for each submission
    export/README.txt                            the commands

Nothing is sent anywhere.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tutor.files import write_atomically
from tutor.grading.outputs.filenames import FileNames
from tutor.grading.outputs.sources import Sources
from tutor.grading.result import Batch, Result

README = """\
In the folder of a lesson:

    java -jar jplag.jar -l python3 -bc base submissions
    moss -l python -d -b base/*.py submissions/*/*.py

JPlag works on this machine. MOSS sends all of it to a server, names of folders included.
"""


@contextmanager
def export(batch: Batch, folder: Path, sources: Sources) -> Iterator[Callable[[Result], None]]:
    """See `tutor.grading.outputs`."""
    root = folder / "export"
    names = {lesson: FileNames() for lesson in batch.lessons}
    for lesson in batch.lessons:
        _write(root / lesson / "base" / f"{lesson}.py", sources.starter(lesson))

    def add(result: Result) -> None:
        code = sources.code(result) if result.source else None
        if code is not None:
            name = names[result.lesson].of(result.submission)
            place = root / result.lesson / "submissions" / name
            _write(place / f"{result.lesson}.py", code)

    yield add
    write_atomically(root / "README.txt", README.encode(), durable=False)


def _write(path: Path, code: str) -> None:
    write_atomically(path, code.encode(errors="replace"), durable=False)
