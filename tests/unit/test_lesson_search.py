"""Lessons are found by the words of PyTorch and JAX, not by their titles alone."""

import pytest

from tests.cases import for_each
from tutor.manifest import Pack
from tutor.pack import open_pack
from tutor.pack.catalogue import Catalogue
from tutor.pack.lesson_search import LessonSearch


@pytest.fixture(scope="module")
def search() -> LessonSearch:
    pack = open_pack()
    return LessonSearch(pack, Catalogue(pack).title)


@for_each(
    ("words", "lesson"),
    [
        ("grad", "grad-basics"),
        ("cross_entropy", "parity-digits"),
        ("DataLoader", "data-loading"),
        ("state_dict", "port-torch-weights"),
        ("lax.scan", "rnn-lstm-scan"),
        ("vmap", "vmap-basics"),
        ("nn.lstm", "rnn-lstm-scan"),
    ],
)
def test_words_find_lessons(search: LessonSearch, words: str, lesson: str):
    assert lesson in [one.lesson for one in search.find(words)]


def test_titles_come_first(search: LessonSearch):
    assert "vmap" in search.find("vmap")[0].lesson


def test_all_words_count(search: LessonSearch):
    both = {one.lesson for one in search.find("vmap lstm")}
    assert both < {one.lesson for one in search.find("vmap")}


def test_what_only_solutions_and_hints_say_is_not_found(search: LessonSearch):
    assert not search.find("no_such_word_anywhere")
    assert not search.find("   ")


def test_a_lesson_that_cannot_be_read_is_found_by_its_id(mini: Pack):
    search = LessonSearch(mini, lambda lesson: lesson)
    assert [one.lesson for one in search.find("double")] == ["double"]
