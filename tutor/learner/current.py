"""The lesson that a command is about if none is named."""

from tutor.learner.placement import placed
from tutor.learner.progress import Progress
from tutor.manifest import Pack


def current_lesson(pack: Pack, progress: Progress) -> str:
    """Return the lesson opened last, else the first that is not passed, else the first."""
    last = progress.last_lesson(pack.id)
    return last if last is not None and last in pack.lessons else first_to_do(pack, progress)


def first_to_do(pack: Pack, progress: Progress) -> str:
    """Return the first lesson that is neither passed nor known; the first if there is none."""
    statuses = placed(pack.manifest, progress.statuses(pack.id))
    order = list(pack.lessons)
    return next((n for n in order if statuses.get(n) not in ("passed", "known")), order[0])
