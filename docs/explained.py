"""Write a page for every explanation into `docs/explanations/`, and one of what functions need.

.venv/bin/python docs/explained.py
"""

from pathlib import Path

from tutor.explain.contracts import functions
from tutor.explain.index import Entry, entries, without_fields

REPOSITORY = Path(__file__).parents[1]
PAGES = REPOSITORY / "docs" / "explanations"
CONTRACTS = REPOSITORY / "docs" / "contracts.md"

HEAD = """\
# All explanations

`jaxtutor explain ID` shows one of these in the terminal, and `jaxtutor explain --list WORD`
searches them. How they are written and tested: [explanations.md](../explanations.md).
"""


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    found = {f"{entry.id}.md": page(entry) for entry in entries().values()}
    rows = [f"- [{entry.id}]({entry.id}.md): {entry.title}\n" for entry in entries().values()]
    return {"README.md": f"{HEAD}\n{''.join(rows)}", **found}


def page(entry: Entry) -> str:
    """Return the page of an explanation."""
    told = entry.explanation
    parts = [f"# {entry.id}\n", f"{told.what}\n", f"{told.why}\n"]
    if entry.messages:
        classes = f"{' or '.join(entry.exceptions)}: " if entry.exceptions else ""
        said = "\n".join(f"{classes}{without_fields(message)}" for message in entry.messages)
        parts.append(f"It is shown for\n\n```text\n{said}\n```\n")
    if entry.names:
        rows = "\n".join(f"# {name}\n{use.rstrip()}\n" for name, use in entry.names)
        parts.append(f"Instead of each name:\n\n```python\n{rows}```\n")
    else:
        parts.append(f"This fails:\n\n```python\n{entry.example.strip()}\n```\n")
        parts.append(f"Instead:\n\n```python\n{told.instead.strip()}\n```\n")
    parts += [
        f"Or: {other.what}\n\n```python\n{other.instead.strip()}\n```\n"
        for other in told.alternatives
    ]
    if told.old:
        parts.append(f"This is the wording of {told.old} and earlier releases.\n")
    if told.link:
        parts.append(f"More: <{told.link}>\n")
    return "\n".join(parts)


CONTRACTS_HEAD = """\
# What functions need

Shown where an error arises in a call of one of these functions, or in a function that is given to
it, and no explanation says more. `jaxtutor explain NAME` shows one in the terminal. The texts are
in `tutor/explain/contracts/`; this page is written by `.venv/bin/python docs/explained.py`.
"""


def contracts() -> str:
    """Return the page of what functions need."""
    parts = [CONTRACTS_HEAD]
    for function in sorted(functions(), key=lambda one: one.name):
        told = function.contract
        others = ", ".join(f"`{name}`" for name in function.names[1:])
        also = f"Also of {others}.\n\n" if others else ""
        parts.append(
            f"## {told.name}\n\n{told.needs}\n\n{also}```python\n{told.example}\n```\n\n"
            f"More: <{told.link}>\n"
        )
    return "\n".join(parts)


def main() -> None:
    CONTRACTS.write_text(contracts(), encoding="utf-8")
    PAGES.mkdir(exist_ok=True)
    wanted = pages()
    for path in PAGES.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = PAGES / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
