"""Check the pages that explanations link to, against checkouts of the libraries' documentation.

    python -m tests.explain.pages JAX FLAX OPTAX [--all]

Writes the addresses in use that exist into `pages.txt`, with which tests compare all links, and
lists the others. Each argument is a directory that contains the repository's `docs` (Flax: `docs`
and `docs_nnx`). `--all` prints every address to which an explanation could link.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tutor.explain.contracts import functions
from tutor.explain.names import groups
from tutor.explain.rulebook import rules

PAGES = Path(__file__).parent / "pages.txt"

SITES = (
    (0, "docs", "https://docs.jax.dev/en/latest/"),
    (1, "docs", "https://flax-linen.readthedocs.io/en/latest/"),
    (1, "docs_nnx", "https://flax.readthedocs.io/en/latest/"),
    (2, "docs", "https://optax.readthedocs.io/en/latest/"),
)


def main() -> int:
    roots = [Path(one) for one in sys.argv[1:4]]
    known = set(pages(roots))
    if "--all" in sys.argv:
        print("\n".join(sorted(known)))
        return 0
    used = links()
    PAGES.write_text("\n".join(sorted(used & known)) + "\n", encoding="utf-8")
    missing = sorted(used - known)
    print("\n".join(f"no such page: {link}" for link in missing))
    return 1 if missing else 0


def links() -> set[str]:
    """Return all links of explanations, and of functions."""
    of_names = {group.link for group in groups()}
    each = {
        entry.link
        for group in groups()
        for entry in group.names.values()
        if not isinstance(entry, str)
    }
    of_functions = {function.link for function in functions()}
    return ({rule.link for rule in rules()} | of_names | each | of_functions) - {""}


def pages(roots: list[Path]) -> Iterator[str]:
    """Yield the addresses of all pages, of the headings in them, and of the API's functions."""
    for number, folder, base in SITES:
        docs = roots[number] / folder
        for path in sorted(docs.rglob("*")):
            if path.suffix not in (".md", ".rst", ".ipynb") or "_templates" in path.parts:
                continue
            page = path.relative_to(docs).with_suffix("")
            text = path.read_text(encoding="utf-8", errors="replace")
            yield f"{base}{page.as_posix()}.html"
            for anchor in anchors(text, path.suffix):
                yield f"{base}{page.as_posix()}.html#{anchor}"
            if path.suffix == ".rst":
                for one in summaries(text):
                    yield base + (page.parent / one).as_posix()


def anchors(text: str, suffix: str) -> Iterator[str]:
    """Yield the anchors of a page: of its headings, and of documented classes and functions."""
    if suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    if suffix == ".rst":
        titles = re.findall(r"^(\S.*)\n([=\-~^*+\"'`#])\2{2,}$", text, re.MULTILINE)
        headings = [title for title, _ in titles]
        module = ""
        for line in text.splitlines():
            if found := re.match(r"\.\. (?:currentmodule|module|automodule):: (\S+)", line):
                module = found[1]
            elif found := re.match(r"\.\. auto(?:class|function|data|exception):: (\S+)", line):
                name = found[1].partition("(")[0]
                whole = name.startswith((f"{module}.", "jax.", "flax."))
                yield name if whole else f"{module}.{name}"
    else:
        headings = re.findall(r"^#{1,5} (.+)$", text, re.MULTILINE)
        yield from re.findall(r"^\(([\w:-]+)\)=$", text, re.MULTILINE)
    for heading in headings:
        if anchor := re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-"):
            yield anchor


def summaries(text: str) -> Iterator[str]:
    """Yield the pages that Sphinx makes for the names of `autosummary` tables."""
    module, folder, inside = "", "", False
    for line in text.splitlines():
        if found := re.match(r"\.\. (?:currentmodule|automodule|module):: (\S+)", line):
            module = found[1]
        elif line.startswith(".. autosummary::"):
            inside, folder = True, ""
        elif inside and (found := re.match(r"\s+:toctree: (\S+)", line)):
            folder = found[1]
        elif inside and (found := re.match(r"\s+~?([A-Za-z_][\w.]*)$", line)):
            if folder:
                name = found[1]
                whole = name if name.startswith(f"{module}.") or not module else f"{module}.{name}"
                yield f"{folder.rstrip('/')}/{whole}.html"
        elif line and not line[0].isspace():
            inside = False


if __name__ == "__main__":
    sys.exit(main())
