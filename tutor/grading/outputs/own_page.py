"""A page with one result, for the learner to keep: `jaxtutor check --report FILE`."""

from tutor.grading.outputs.pages import load_template
from tutor.grading.outputs.student_view import student_view
from tutor.grading.points import mark_reports
from tutor.grading.result import Batch, Result
from tutor.lesson import Lesson
from tutor.manifest import Pack
from tutor.report import Report


def own_page(pack: Pack, lesson: Lesson, report: Report, code: str) -> bytes:
    """Return the page: points and messages of the checks, as students see them, the losses of
    trainings, and the code."""
    manifest = pack.manifest
    marks = mark_reports(lesson, [report])
    result = Result(
        lesson.title,
        lesson.id,
        marks.verdict,
        marks.score,
        marks.max_score,
        marks.checks,
        fault=marks.fault,
        values=marks.values,
        explained=marks.explained,
        help=marks.help,
        looks=marks.looks,
    )
    batch = Batch(manifest.title, manifest.version or "", report.seed, (lesson.id,))
    page = load_template("student.html").render(
        batch=batch,
        name=lesson.title,
        results=[(result, student_view(result))],
        code=code,
        seed=report.seed,
        versions=report.versions,
    )
    return page.encode()
