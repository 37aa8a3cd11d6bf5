"""The progress bar of commands that run many submissions."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


def progress_bar(console: Console) -> Progress:
    """Return a bar with rate and time left; it draws nothing where there is no terminal."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(),
        TimeRemainingColumn(),
        console=console, transient=True, disable=not console.is_terminal,
        speed_estimate_period=120,
    )  # fmt: skip


class _Rate(ProgressColumn):
    """Steps per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "", "dim")
