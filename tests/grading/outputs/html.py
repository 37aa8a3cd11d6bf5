"""HTML as a browser parses it: its elements and text."""

from html.parser import HTMLParser
from pathlib import Path

OURS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "a", "span", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "div", "figure", "figcaption", "svg",
    "rect", "text", "path", "tspan", "pre", "mark",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "scope", "colspan", "id", "href",
    "role", "aria-label", "aria-hidden", "width", "height", "viewbox", "x", "y", "text-anchor", "d",
}  # fmt: skip
_EMPTY = {"meta"}


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    @staticmethod
    def of(path: Path) -> "Page":
        return Page(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        assert decl == "doctype html"

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")

    @property
    def text(self) -> str:
        return "".join(text for tag, text in self.texts if tag != "style")

    def only_ours(self) -> bool:
        """Return whether all elements and attributes are the templates', and nothing loads or
        runs."""
        return all(
            tag in OURS and set(attributes) <= ATTRIBUTES and attributes.get("href", "#")[0] == "#"
            for tag, attributes in self.elements
        )

    @property
    def policy(self) -> str:
        (found,) = [a["content"] for tag, a in self.elements if "http-equiv" in a]
        return found or ""
