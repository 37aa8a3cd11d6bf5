"""Many cases in one test, where pytest would collect, set up and report a test for each."""

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import Any

import pytest


@contextmanager
def all_cases() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Go on after a case that fails, and in the end fail with all of them.

    ```
    with all_cases() as case:
        for name in names:
            with case(name):
                assert …
    ```
    """
    failures: list[BaseException] = []
    names: list[str] = []

    @contextmanager
    def case(name: str) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - raised at the end
            error.add_note(f"in case {name}")
            failures.append(error)
            names.append(name)

    yield case
    if failures:
        raise BaseExceptionGroup(f"failed in {len(names)} cases: {'; '.join(names)}", failures)


def for_each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Iterable[object] | Callable[[Any], object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with each of many cases, as `pytest.mark.parametrize` would, in one test.

    All cases share the test's fixtures, except that each has its own `tmp_path`, and that what it
    does with `monkeypatch` is undone before the next.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_row(case, len(keys)) for case in cases]
    given = [None] * len(rows) if ids is None or callable(ids) else list(islice(ids, len(rows)))
    labels = [
        str(label or own or (ids(*values) if callable(ids) else _shown(values)))
        for (values, own), label in zip(rows, given, strict=True)
    ]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run_all(**fixtures: Any) -> None:
            with all_cases() as case:
                for number, (label, (values, _)) in enumerate(zip(labels, rows, strict=True)):
                    own = fixtures | dict(zip(keys, values, strict=True))
                    if "tmp_path" in own:
                        own["tmp_path"] = own["tmp_path"] / f"case{number}"
                        own["tmp_path"].mkdir()
                    with case(label), pytest.MonkeyPatch.context() as monkeypatch:
                        if "monkeypatch" in own:
                            own["monkeypatch"] = monkeypatch
                        test(**own)

        signature = inspect.signature(test)
        left = [each for each in signature.parameters.values() if each.name not in keys]
        run_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate


def _row(case: Any, count: int) -> tuple[tuple[Any, ...], str | None]:
    """Return a case's values and its id, if it has one."""
    if isinstance(case, type(pytest.param())):
        assert not case.marks, "cases of one test have no marks"
        return tuple(case.values), case.id
    return (case,) if count == 1 else tuple(case), None


def _shown(values: tuple[Any, ...]) -> str:
    return "-".join(each if isinstance(each, str) else reprlib.repr(each) for each in values)[:80]
