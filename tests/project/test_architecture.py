"""docs/architecture.md names rooms and files that exist, in the order of import-linter's layers."""

import re
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = REPOSITORY / "tutor"


def rooms() -> list[str]:
    """Return the rooms of the table, from the top."""
    table = PAGE.partition("| room |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)/` \|", table, re.MULTILINE)


def layers() -> list[str]:
    """Return the layers of import-linter's contract, from the top."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers"
    )
    return [name for layer in contract["layers"] for name in layer.split(" | ")]


def test_every_room_is_listed_in_the_order_of_the_layers():
    found = rooms()
    assert sorted(found) == sorted(
        path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()
    )
    order = layers()
    assert [order.index(room) for room in found] == sorted(order.index(room) for room in found)


def test_every_file_at_the_top_is_named():
    for path in PACKAGE.glob("*.py"):
        assert path.name.startswith("__") or f"`{path.name}`" in PAGE, path.name


def test_every_file_that_is_named_exists():
    known = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    names = {name.rpartition("/")[2] for name in known}
    for named in re.findall(r"`([\w/]+\.py)`", PAGE):
        assert (named in known) if "/" in named else (named in names), named
