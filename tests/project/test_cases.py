"""Tests of many cases fail with all cases that fail, each by its name."""

from pathlib import Path

import pytest

from tests.cases import all_cases, for_each


def two_fail() -> None:
    with all_cases() as case:
        for name in ("one", "two", "three", "four"):
            with case(name):
                assert name != "one"
                if name == "three":
                    pytest.fail("by pytest")


def test_all_cases_that_fail_are_listed():
    with pytest.raises(BaseExceptionGroup, match="failed in 2 cases: one; three") as caught:
        two_fail()
    assert [error.__notes__[-1] for error in caught.value.exceptions] == [
        "in case one",
        "in case three",
    ]


def test_each_case_has_its_values_its_directory_and_its_patches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    seen, patched = [], {}

    @for_each(("a", "b"), [(1, 2), pytest.param(3, 4, id="equal")], ids=None)
    @for_each("c", ["x", "y"], ids=str.upper)
    def test(a: int, b: int, c: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen.append((a, b, c))
        assert not list(tmp_path.iterdir())
        (tmp_path / "file").touch()
        monkeypatch.setitem(patched, c, a)
        assert list(patched.items()) == [(c, a)]
        assert a != 3

    with pytest.raises(BaseExceptionGroup, match="failed in 1 cases: equal") as caught:
        test(tmp_path=tmp_path, monkeypatch=monkeypatch)
    assert seen == [(1, 2, "x"), (1, 2, "y"), (3, 4, "x"), (3, 4, "y")]
    assert "failed in 2 cases: X; Y" in str(caught.value.exceptions[0])
    assert not patched
