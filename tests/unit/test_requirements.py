"""Packages that lessons require, and what is said of those that are not there."""

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cases import for_each
from tutor import requirements
from tutor.requirements import BadRequirement, parsed, unmet, versions

JAX = version("jax")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of installed packages with two of them."""
    folder = tmp_path / "site-packages"
    for name, found in (("equinox", "0.11.4"), ("some_thing", "2.0rc1"), ("odd", "unknown")):
        info = folder / f"{name}-{found}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {found}\n")
    monkeypatch.syspath_prepend(str(folder))
    return folder


@for_each(
    ("requires", "told"),
    [
        ([], ""),
        (["jax"], ""),
        (["jax>=0.10,<99", "Equinox >= 0.11", "some-thing>=1"], ""),
        (["equinox>=0.12"], ("needs equinox>=0.12 (0.11.4 is installed); "
                            "run: pip install 'equinox>=0.12'")),
        (["jax>=99", "nothing-of-this-name"],
         (f"needs jax>=99 ({JAX} is installed), nothing-of-this-name; "
         "run: pip install 'jax>=99' nothing-of-this-name")),
        (["nothing[extra,all]~=1.0"], ("needs nothing[all,extra]~=1.0; "
                                      "run: pip install 'nothing[all,extra]~=1.0'")),
        (["nothing; python_version < '3'"], ""),
        (["nothing>=1; python_version > '3'"], "needs nothing>=1; run: pip install 'nothing>=1'"),
        (["odd>=1"], "needs odd>=1 (unknown is installed); run: pip install 'odd>=1'"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_with_the_command(packages: Path, requires: list[str], told: str):
    assert unmet(requires) == told


def test_versions_are_those_that_are_installed(packages: Path):
    found = versions(["equinox>=99", "jax", "nothing"])
    assert found == {"equinox": "0.11.4", "jax": JAX}


def test_packages_that_sandboxes_cannot_import_do_not_count(
    packages: Path, monkeypatch: pytest.MonkeyPatch
):
    assert not unmet(["some_thing"])
    monkeypatch.setattr(requirements.site, "getusersitepackages", lambda: str(packages))
    assert unmet(["some_thing"])
    monkeypatch.undo()
    elsewhere = packages.rename(packages.with_name("sources"))
    monkeypatch.syspath_prepend(str(elsewhere))
    assert unmet(["some_thing"])


@for_each(
    "text",
    [
        "equinox @ https://example.org/equinox.whl",
        "https://example.org/equinox.whl",
        "git+https://github.com/patrick-kidger/equinox",
        "file:///tmp/equinox",
        "./equinox",
        "..\\equinox",
        "/tmp/equinox",
        "equinox.whl",
        "equinox-0.11.4.tar.gz",
    ],
)
def test_urls_and_files_are_refused(text: str):
    with pytest.raises(BadRequirement, match="must not be a URL or a file") as error:
        parsed(text)
    assert "name a package" in error.value.remedy


@for_each(
    "text", ["", "<0.13", "equinox>>1", "equinox 0.11", "-r list.txt", "a\n--index-url b", "a b"]
)
def test_other_texts_are_no_requirements(text: str):
    with pytest.raises(BadRequirement, match="must be a requirement as for pip") as error:
        parsed(text)
    assert "in quotes" in error.value.remedy
