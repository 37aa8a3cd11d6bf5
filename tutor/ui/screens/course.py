"""The course by track, with progress."""

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Label, Markdown, OptionList
from textual.widgets.option_list import Option

from tutor.lesson import Lesson
from tutor.progress import LessonStatus
from tutor.ui.actions import COURSE, bindings
from tutor.ui.desk import Desk, OpenLesson

_MARKS: dict[LessonStatus, str] = {"new": "  ", "started": "· ", "passed": "✓ "}


class CourseScreen(Screen[None]):
    """All lessons; the one under the cursor is described beside the list."""

    ACTIONS = COURSE
    BINDINGS = bindings(COURSE)
    CSS_PATH = "course.tcss"

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.pack = desk.pack

    def compose(self) -> ComposeResult:
        yield Label(self.pack.manifest.title, classes="title", id="course-title")
        with Container(id="course"):
            yield OptionList(id="lessons")
            with VerticalScroll(id="about", can_focus=False):
                yield Markdown(id="about-text")
        yield Footer(show_command_palette=False)

    def on_screen_resume(self) -> None:
        """Shown for the first time or again: progress may have changed."""
        self._fill()
        self.query_one("#lessons").focus()

    def _fill(self) -> None:
        progress = self.desk.progress
        statuses = progress.statuses(self.pack.id)
        passed = sum(statuses.get(name) == "passed" for name in self.pack.lessons)
        title = f"{self.pack.manifest.title}  ·  {passed} of {len(self.pack.lessons)} passed"
        self.query_one("#course-title", Label).update(title)
        lessons = self.query_one("#lessons", OptionList)
        place = lessons.highlighted
        lessons.clear_options()
        for track in self.pack.manifest.tracks:
            lessons.add_option(Option(track.title, disabled=True))
            for name in track.lessons:
                mark = _MARKS[statuses.get(name, "new")]
                lessons.add_option(Option(f"{mark}{self.pack.lesson(name).title}", id=name))
        last = progress.last_lesson(self.pack.id)
        wanted = last if last in self.pack.lessons else None
        wanted = wanted or next(iter(self.pack.lessons))
        lessons.highlighted = place if place is not None else lessons.get_option_index(wanted)
        self.desk.tell_notices(self)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id is not None:
            self.query_one("#about-text", Markdown).update(self._about(event.option.id))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option.id is not None:
            self._open(event.option.id)

    def action_open(self) -> None:
        lessons = self.query_one("#lessons", OptionList)
        if lessons.highlighted is not None:
            name = lessons.get_option_at_index(lessons.highlighted).id
            if name is not None:
                self._open(name)

    def _open(self, name: str) -> None:
        self.post_message(OpenLesson(self.pack.lesson(name)))

    def _about(self, name: str) -> str:
        lesson = self.pack.lesson(name)
        attempts = self.desk.progress.attempts(self.pack.id, name)
        facts = [f"About {lesson.minutes} minutes."]
        if lesson.needs:
            titles = ", ".join(f"*{self.pack.lesson(need).title}*" for need in lesson.needs)
            facts.append(f"Comes after {titles}.")
        if attempts:
            facts.append(f"Checked {attempts} {'time' if attempts == 1 else 'times'} so far.")
        lines = [first_paragraph(lesson), " ".join(facts)]
        if lesson.sources:
            lines.append(f"Sources: {', '.join(lesson.sources)}.")
        return "\n\n".join(lines)


def first_paragraph(lesson: Lesson) -> str:
    return lesson.brief.strip().partition("\n\n")[0]
