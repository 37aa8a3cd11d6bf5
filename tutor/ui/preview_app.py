"""`pack preview`: the app for authors of lessons."""

from textual.screen import Screen

from tutor.ui.app import TutorApp


class PreviewApp(TutorApp):
    """The app with `PreviewScreen` in place of `LessonScreen`."""

    def screen_of(self, lesson_id: str) -> Screen[None]:
        from tutor.ui.screens.preview_screen import preview

        return preview(self.desk, lesson_id)
