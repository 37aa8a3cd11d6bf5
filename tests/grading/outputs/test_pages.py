"""HTML pages are valid and self-contained, and show all text as text."""

import base64
import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import hypothesis
import msgspec
import pytest
from hypothesis import strategies

from tests.grading.outputs.conftest import BATCH, FakeCodeReader
from tests.grading.outputs.html import Page
from tests.grading.outputs.made import NASTY, hostile_result
from tutor.grading import outputs
from tutor.grading.result import CheckScore, Result
from tutor.report import WANTS, Called, Curves, Explanation

Write = Callable[..., Path]
PAGES = ["report.html", "students"]


def page_of(folder: Path, name: str) -> Page:
    return Page.of(folder / "students" / f"{name}.html")


# --- all pages -----------------------------------------------------------------------------


def test_pages_load_and_run_nothing(write: Write, real: Sequence[Result]):
    folder = write(real, PAGES)
    pages = [Page.of(path) for path in folder.rglob("*.html")]
    assert len(pages) == 1 + 4
    for page in pages:
        assert page.only_ours()
        (style,) = [text for tag, text in page.texts if tag == "style"]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert page.policy.startswith("default-src 'none'; ")
        assert f"style-src 'sha256-{digest}'" in page.policy
        assert "url(" not in style and "@import" not in style


@pytest.mark.parametrize("lang", ["en", "pt-BR"])
def test_pages_are_in_the_language_of_the_pack_and_jaxtutors_own_words_in_english(
    write: Write, real: Sequence[Result], lang: str
):
    why = f"shape (3,), expected (4,). {WANTS} Um valor por linha."
    checks = (
        CheckScore(
            "as linhas", "value", "fail", 0.0, 1.0, message=why, bonus=True, values=("x 3", "y 4")
        ),
    )
    at_import = Result("Ida", "double", "error", 0.0, 1.0, fault="NameError", values=("y 4",))
    results = [*real, Result("Zoe", "double", "fail", 0.0, 1.0, checks), at_import]
    folder = write(results, PAGES, msgspec.structs.replace(BATCH, lang=lang))
    for path in folder.rglob("*.html"):
        page = Page.of(path)
        assert page.elements[0] == ("html", {"lang": lang})
        assert {a["lang"] for tag, a in page.elements[1:] if "lang" in a} <= {"en"}
    zoe = page_of(folder, "Zoe")
    assert why in zoe.text
    tags = {text.strip(): tag for tag, text in zoe.texts}
    assert tags["Um valor por linha."] == "div" and tags["as linhas"] == "th"
    assert tags[f"shape (3,), expected (4,). {WANTS}"] == tags["(bonus)"] == "span"
    assert tags["where x 3, y 4"] == "span"
    assert "NameError\nwhere y 4" in page_of(folder, "Ida").text


def test_hostile_text_is_shown_as_text(write: Write, hostile: Sequence[Result]):
    folder = write(hostile, PAGES)
    pages = {path.name: Page.of(path) for path in folder.rglob("*.html")}
    assert len(pages) == 1 + len(NASTY)
    for page in pages.values():
        assert page.only_ours()
        assert not set(page.text) & set("\x00\x07\x1b\u202e\ud800")
    for name in ("<script>alert(1)</script>", "</style></title><img src=x onerror=alert(1)>"):
        assert name in pages["report.html"].text
    assert "{{ 7 * 7 }}{% raw %}" in pages["report.html"].text


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@hypothesis.given(strategies.text(alphabet="<>&\"'/!-={}%[] aZ\x00\u202e") | strategies.text())
@hypothesis.settings(deadline=None, max_examples=40)
def test_any_text_is_shown_as_text(shared: Path, text: str):
    result = hostile_result(text)
    sources = FakeCodeReader({(text, "double"): text})
    outputs.write(BATCH, [result], shared, ["report.html"], sources)
    student = outputs.FORMATS["students"]
    with student(BATCH, shared, sources) as add:
        add(msgspec.structs.replace(result, submission="student", fault=text))
    assert Page.of(shared / "report.html").only_ours()
    assert page_of(shared, "student").only_ours()


# --- the report ------------------------------------------------------------------------


def test_the_report_shows_scores_and_what_needs_review(write: Write, real: Sequence[Result]):
    text = Page.of(write(real, ["report.html"]) / "report.html").text
    assert "mini 1.2" in text and "4 submissions" in text and str(BATCH.seed) in text
    assert "Overrides: 1." in text and "Needs review: 4." in text
    assert "the file is empty" in text and "no sandbox could be started" in text
    assert "notes.txt: no such lesson" in text
    assert "set to 1 by Prof. X (was 0): the idea is right" in text
    assert "2.5 days late" in text


def test_the_check_that_failed_most_comes_first(write: Write):
    def result(name: str, *passed: bool) -> Result:
        checks = tuple(
            CheckScore(f"check {place}", "value", "pass" if one else "fail", 0.0, 1.0)
            for place, one in enumerate(passed)
        )
        return Result(name, "double", "fail", 1.0, 3.0, checks)

    results = [result("a", True, False, True), result("b", True, False, False)]
    text = Page.of(write(results, ["report.html"]) / "report.html").text
    table = text[text.index("most often failed first") :]
    assert table.index("check 1") < table.index("check 2") < table.index("check 0")
    shares = [word for word, sign in pairwise(table.split()) if sign == "%"]
    assert shares == ["100.0", "50.0", "0.0"]


def test_scores_and_times_are_drawn(write: Write, real: Sequence[Result]):
    page = Page.of(write(real, ["report.html"]) / "report.html")
    labels = [a.get("aria-label") for tag, a in page.elements if tag == "svg" and "role" in a]
    assert labels == [
        "Submissions by score, as a share of the lessons handed in",
        "Results by grading time",
    ]
    widths = [float(a["width"]) for tag, a in page.elements if tag == "rect"]
    assert max(widths) == 300 and min(widths) >= 0


def test_an_empty_batch_has_a_report(write: Write):
    page = Page.of(write([], ["report.html"]) / "report.html")
    assert "0 submissions" in page.text and page.only_ours()


# --- student pages ---------------------------------------------------------------------------


def test_a_student_sees_their_own_results_only(write: Write, real: Sequence[Result]):
    folder = write(real, ["students"])
    bob = page_of(folder, "Bob").text
    assert "Total: -0.3 of 3" in bob and "double: 0 of 2" in bob
    assert "largest difference" in bob and "x float32[3, 4]" in bob
    assert "<script>alert(1)</script>" in bob and "2.5 days late" in bob
    names = {result.submission for result in real}
    for name in names:
        assert not any(other in page_of(folder, name).text for other in names - {name})


def test_a_student_sees_pending_reviews_and_overrides(write: Write, real: Sequence[Result]):
    folder = write(real, ["students"])
    dan = page_of(folder, "Dan").text
    assert "double: ? of 2" in dan and "a grader will review it" in dan
    assert "the file is empty" in dan
    assert "no sandbox" not in dan  # internal faults are hidden
    cagla = page_of(folder, "Çağla Ünal").text
    assert "set this score: the idea is right" in cagla and "Prof. X" not in cagla
    assert "'(' was never closed" in cagla


WHAT = Explanation("an-id", "It <is> so.", "Torch does not.", "y = f(x)", "a-lesson", likely=True)


SCAN = Called("jax.lax.scan", "(f, <init>)", "Scan a function.")


def test_a_student_sees_explanations_and_what_the_function_says_of_itself(write: Write):
    checks = (
        CheckScore("seen", "value", "fail", 0.0, 1.0, message="no", explained=WHAT, help=SCAN),
        CheckScore("covert", "value", "fail", 0.0, 1.0, visible=False,
                   explained=msgspec.structs.replace(WHAT, what="SECRET"),
                   help=msgspec.structs.replace(SCAN, about="SECRET")),
    )  # fmt: skip
    results = [
        Result("Eve", "double", "fail", 0.0, 2.0, checks),
        Result("Eve", "tall", "error", None, 1.0, fault="it broke", explained=WHAT, help=SCAN),
    ]
    folder = write(results, ["students", "gradescope"])
    text = " ".join(page_of(folder, "Eve").text.split())
    explanation = (
        "Probably: It <is> so. Torch does not. Instead: y = f(x) "
        "jax.lax.scan(f, <init>) Scan a function."
    )
    assert text.count(explanation) == 2 and f"it broke {explanation}" in text
    assert "SECRET" not in text
    data = msgspec.json.decode((folder / "gradescope/Eve/results.json").read_bytes())
    lines = (
        "\n\nProbably: It <is> so.\nTorch does not.\nInstead:\ny = f(x)"
        "\n\njax.lax.scan(f, <init>)\nScan a function."
    )
    assert data["tests"][0]["output"] == f"no{lines}" and f"it broke{lines}" in data["output"]


def test_a_student_sees_only_the_points_of_hidden_checks(write: Write):
    checks = (
        CheckScore("seen", "value", "pass", 1.0, 1.0),
        CheckScore("covert", "value", "fail", 0.5, 2.0, message="SECRET", visible=False),
        CheckScore("third", "grad", "skipped", 0.0, 1.0, message="needs 'covert' to pass first"),
    )
    result = Result(
        "Eve", "double", "fail", 1.5, 4.0, checks, notes=("not passed: covert",),
        fault="covert: SECRET",
    )  # fmt: skip
    folder = write([result], ["students", "gradescope"])
    text = page_of(folder, "Eve").text
    assert "1 more" in text and "0.5 of 2" in text
    assert "covert" not in text and "SECRET" not in text
    data = msgspec.json.decode((folder / "gradescope/Eve/results.json").read_bytes())
    shown = [test for test in data["tests"] if test["visibility"] == "visible"]
    assert [test["name"] for test in shown] == ["double: seen", "double: third"]
    assert "covert" not in str(shown) + data["output"]
    assert "SECRET" not in str(shown) + data["output"]


def test_the_losses_of_a_training_are_drawn_beside_those_of_pytorch(write: Write):
    curves = Curves((0, 10, 20), (2.0, None, 0.5), (2.0, 1.0, 0.25))
    checks = (CheckScore("training", "learns", "fail", 0.0, 1.0, curves=curves),)
    folder = write([Result("Zoe", "fit", "fail", 0.0, 1.0, checks)], ["students"])
    page = page_of(folder, "Zoe")
    assert page.only_ours()
    paths = {a["class"]: a["d"] for tag, a in page.elements if tag == "path" and "class" in a}
    # The difference is drawn after the losses, also as the learner's; a gap starts a new line.
    losses = [a["d"] for tag, a in page.elements if tag == "path" and a["class"] == "curve yours"]
    assert losses[0] == "M62.0 8.0 M452.0 93.7"
    assert paths["curve torch"] == "M62.0 8.0 L257.0 65.1 L452.0 108.0"
    assert "largest difference 0.25, at step 20" in page.text
