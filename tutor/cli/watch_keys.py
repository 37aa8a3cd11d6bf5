"""The keys of `watch`: what each does."""

from contextlib import suppress

from tutor.cli.inbox import Inbox
from tutor.cli.keys import END, Keys
from tutor.cli.learner import next_hint
from tutor.cli.listing import MARKS
from tutor.cli.watch_output import Screen
from tutor.cli.watched_lesson import INTERVAL, WatchedLesson
from tutor.engine.background import RunEvent
from tutor.learner.editors import NoEditor, find_editor
from tutor.learner.going_on import first_to_do
from tutor.learner.placement import listed_title, placed, reviews
from tutor.learner.progress import Progress
from tutor.lesson import Lesson
from tutor.pack import BadPack
from tutor.pack.catalogue import Catalogue
from tutor.report import Report
from tutor.suggestions import nearest


class Keyboard:
    """Follows the keys, the file and the runs, until a key quits.

    **Arguments:** `editor`: whether to open each lesson in the editor that this terminal belongs
    to, if there is one.
    """

    def __init__(
        self,
        keys: Keys,
        watched: WatchedLesson,
        screen: Screen,
        inbox: Inbox[RunEvent],
        *,
        editor: bool = True,
    ) -> None:
        self._keys = keys
        self._watched = watched
        self._screen = screen
        self._inbox = inbox
        self._pack = watched.pack
        self._open = True
        self._editor = editor
        self._begun: Lesson | None = None
        """The lesson that the editor was opened for without a key."""
        self._hinted: Report | None = None
        """The report whose failure hint was shown."""
        self._actions = {
            "n": self._next,
            "h": self._hint,
            "l": self._list,
            "r": self._watched.check,
            "e": self._edit,
            "q": self._quit,
            END: self._quit,
        }

    def follow(self) -> None:
        events: list[RunEvent] = []
        while self._open:
            if self._keys.resumed:
                self._keys.resumed = self._screen.prompted = False
                self._keys.typing = False
            if self._watched.changed():
                if self._keys.typing:
                    self._keys.drop_line()
                self._watched.check()
            self._open_around()
            if not self._keys.typing:
                for event in events:
                    self._watched.handle(event)
                events = []
                if not self._watched.running and not self._screen.prompted:
                    self._screen.prompt(self._watched.done)
            more, pressed = self._inbox.wait(self._keys.source(), INTERVAL)
            events += more
            if pressed:
                self._press()

    def _press(self) -> None:
        if self._keys.typing:
            self._choose(self._keys.read_line())
            return
        action = self._actions.get(self._keys.read().lower())
        if action is not None:
            action()

    # --- actions -----------------------------------------------------------------------------

    def _quit(self) -> None:
        self._screen.take_back_prompt()
        self._open = False

    def _next(self) -> None:
        lesson = self._watched.lesson
        if not self._watched.done:
            self._screen.say(f"{lesson.id} has not passed yet. To go to another lesson, press l.")
            return
        following = self._pack.next_after(lesson.id)
        if following is None:
            with Progress() as progress:
                following = first_to_do(self._pack, progress)
                if progress.passed(self._pack.id, following):
                    self._screen.say("That was the last lesson. You have passed them all.")
                    return
        self._go_to(following)

    def _hint(self) -> None:
        """Show the hint for the failure, once; then the lesson's hints, one after another."""
        lesson, report = self._watched.lesson, self._watched.report
        number = lesson.failure_hint(report) if report is not None else 0
        if number and report is not self._hinted:
            self._hinted = report
            self._screen.say(lesson.failure_hints[number - 1].hint.rstrip())
            return
        self._screen.take_back_prompt()  # notices may follow
        self._screen.say(next_hint(self._pack, lesson, self._screen.command))

    def _open_around(self) -> None:
        """Open a lesson that is new here in the editor around this terminal."""
        if not self._editor or self._begun is self._watched.lesson:
            return
        self._begun = self._watched.lesson
        with suppress(NoEditor):  # `e` says why
            editor = find_editor(self._watched.path)
            if editor.around:
                editor.open()

    def _edit(self) -> None:
        report = self._watched.report
        line = (report.first_line if report is not None else 0) or 1
        try:
            editor = find_editor(self._watched.path, line)
            if editor.where != "terminal":
                editor.open()
                self._screen.say(f"Opened with {editor.name}.", "dim")
                return
            self._screen.take_back_prompt()
            with self._keys.lent():
                editor.open()
        except NoEditor as error:
            self._screen.say(str(error))

    def _list(self) -> None:
        """Print the lessons of the track, and ask for the one to go to."""
        pack, track = self._pack, self._pack.track_of(self._watched.lesson.id)
        with Progress() as progress:
            statuses = placed(pack.manifest, progress.statuses(pack.id))
        catalogue, tests = Catalogue(pack), reviews(pack.manifest)
        width = max(len(name) for name in track.lessons)
        self._screen.say(track.title, "bold")
        for number, name in enumerate(track.lessons, 1):
            mark = MARKS[statuses.get(name, "new")]
            title = listed_title(catalogue.title(name), name in tests)
            here = "  ← here" if name == self._watched.lesson.id else ""
            self._screen.say(f"{number:3} {mark} {name:<{width}}  {title}{here}")
        self._screen.say(f"All tracks: {self._screen.command('list')}", "dim")
        self._screen.ask("Go to which lesson? Its number or id; Enter to stay: ")
        self._keys.begin_line()

    def _choose(self, answer: str) -> None:
        self._screen.answered()
        order = self._pack.track_of(self._watched.lesson.id).lessons
        if answer.isascii() and answer.isdigit() and 1 <= int(answer) <= len(order):
            answer = order[int(answer) - 1]
        if answer in self._pack.lessons:
            self._go_to(answer)
        elif answer:
            hint = nearest(answer, self._pack.lessons) or ". Press l to see the lessons"
            self._screen.say(f"there is no lesson {answer!r}{hint}")

    def _go_to(self, name: str) -> None:
        try:
            lesson = self._pack.lesson(name)
        except BadPack as error:
            self._screen.say(error.text)
            return
        self._watched.open(lesson)
