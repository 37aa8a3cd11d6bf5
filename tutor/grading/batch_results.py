"""The results of a batch as they count now: with overrides and lateness applied."""

from collections.abc import Collection, Iterator

import msgspec

from tutor.grading.journal import Journal, ResultId
from tutor.grading.late import Times
from tutor.grading.points import round_points
from tutor.grading.result import Result
from tutor.grading.submissions import SubmissionReader, by_name
from tutor.manifest import Pack


class BatchResults:
    """The results in order, read from the journal at each iteration; none are kept in memory.

    **Arguments:** `lessons`: those whose submissions were read.
    """

    def __init__(
        self,
        pack: Pack,
        lessons: Collection[str],
        submissions: SubmissionReader,
        journal: Journal,
        times: Times,
    ) -> None:
        self._lessons = lessons
        self._journal = journal
        self._times = times
        self._penalty = pack.manifest.grading.late
        self._positions = {lesson: position for position, lesson in enumerate(pack.lessons)}
        self._submitted_at = {(one.name, one.lesson): one.submitted_at for one in submissions.all}

    def __iter__(self) -> Iterator[Result]:
        for result_id in sorted(self._journal, key=self._order):
            result = self._journal.result(*result_id)
            assert result is not None
            yield self._final(result)

    def _order(self, result_id: ResultId) -> tuple[str, str, int, str]:
        name, lesson = result_id
        return (*by_name(name), self._positions.get(lesson, len(self._positions)), lesson)

    def _final(self, result: Result) -> Result:
        result_id = (result.submission, result.lesson)
        score, notes = result.score, result.notes
        submitted_at = self._submitted_at.get(result_id, "")
        late = self._times.late(
            *result_id, submitted_at, self._penalty, score or 0.0, result.max_score
        )
        if score is not None and late is not None:
            score = round_points(score - late.penalty)
        if result_id not in self._submitted_at and result.lesson in self._lessons:
            notes = (*notes, "submission removed; showing its last result")
        override = self._journal.overrides.get(result_id)
        return msgspec.structs.replace(
            result, score=score, notes=notes, late=late, override=override
        )
