"""The text of a lesson that a learner reads before they write code."""

from tutor.checks.predict import question_markdown, questions
from tutor.lesson import Lesson


def brief_markdown(lesson: Lesson) -> str:
    """Return the brief and the questions."""
    parts = [lesson.instructions, *map(question_markdown, questions(lesson.checks))]
    if lesson.sources:
        parts.append(f"*Sources: {', '.join(lesson.sources)}.*")
    return "\n\n".join(parts)
