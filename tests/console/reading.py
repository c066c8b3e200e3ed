"""A page as a browser reads it: its links, forms and live parts, and whatever in it could do harm."""

from __future__ import annotations

import html
import re
from collections import Counter
from functools import lru_cache
from html.parser import HTMLParser
from urllib.parse import urlsplit

import httpx

ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "link",
        "script",
        "template",
        "body",
        "header",
        "nav",
        "main",
        "footer",
        "section",
        "article",
    ),
    *(
        "aside",
        "div",
        "span",
        "p",
        "a",
        "h1",
        "h2",
        "h3",
        "h4",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "strong",
        "em",
        "code",
    ),
    *(
        "pre",
        "kbd",
        "mark",
        "small",
        "time",
        "br",
        "hr",
        "wbr",
        "table",
        "caption",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
    ),
    *(
        "td",
        "form",
        "fieldset",
        "legend",
        "label",
        "input",
        "select",
        "option",
        "optgroup",
        "textarea",
        "button",
        "output",
    ),
    *(
        "details",
        "summary",
        "dialog",
        "meter",
        "progress",
        "figure",
        "figcaption",
        "template",
        "samp",
        "q",
        "b",
        "abbr",
    ),
    *("ins", "del", "bdi", "col", "colgroup", "blockquote", "var", "sup", "sub", "i", "data", "datalist"),
    *(
        "svg",
        "use",
        "g",
        "rect",
        "line",
        "path",
        "polyline",
        "polygon",
        "circle",
        "text",
        "tspan",
        "desc",
        "defs",
        "symbol",
    ),
}
"""Elements that our templates and charts make; no other may come out of a text."""

LINKING = (
    "href",
    "src",
    "action",
    "formaction",
    "data-facets",
    "xlink:href",
    "data-login",
    "data-live-stream",
)
EVIL = re.compile(r"^(on|hx-|srcdoc$|style$|ping$|background$)")
ENTITIES_OF_ENTITIES = re.compile(r"&amp;(lt|gt|quot|#34|#39|#x27);")


class Read(HTMLParser):
    """What stands in a page or a part of it.

    Attributes:
        faults: what must not be there.
        links: where `a` and GET forms lead, below our root.
        fields: names of the fields of GET forms.
        acts: POST forms: their paths.
        parts: names of live parts with what they are asked for with.
        ids: every id with how often it is there.
        texts: all text.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self.links: list[str] = []
        self.fields: list[str] = []
        self.acts: list[str] = []
        self.parts: dict[str, str] = {}
        self.ids: Counter[str] = Counter()
        self.texts: list[str] = []
        self._open: list[str] = []
        self._getting = False
        self.feed(text)
        self.close()
        if (found := ENTITIES_OF_ENTITIES.search(text)) is not None:
            self.faults.append(f"escaped twice: {text[max(0, found.start() - 60) : found.end() + 40]}")
        self.faults += [f"{n} elements have the id {id}" for id, n in self.ids.items() if n > 1]

    @property
    def text(self) -> str:
        """All text, joined."""
        return " ".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self._refuse("an element of nobody", tag, attrs)
        given = dict(attrs)
        if len(given) < len(attrs):
            self._refuse("an attribute twice", tag, attrs)
        for name, value in attrs:
            if EVIL.match(name) or (name == "autofocus" and "onfocus" in given):
                self._refuse("a live attribute", tag, attrs)
            if name in LINKING and value is not None and not _harmless(value):
                self._refuse("leads elsewhere", tag, attrs)
        if tag == "script" and (given.get("src") or "").rpartition("/")[2] != "console.js":
            self._refuse("a script", tag, attrs)
        if tag == "meta" and "http-equiv" in given:
            self._refuse("a header", tag, attrs)
        if given.get("target") == "_blank" and "noopener" not in (given.get("rel") or ""):
            self._refuse("opens a window that knows us", tag, attrs)
        if id := given.get("id"):
            self.ids[id] += 1
        if "data-live" in given:
            self.parts[str(given["data-live"])] = str(given.get("data-with") or "")
        if tag == "a" and (to := given.get("href")):
            self.links.append(to)
        if tag == "form":
            self._getting = (given.get("method") or "get").lower() == "get"
            if not self._getting:
                self.acts.append(given.get("action") or "")
        if tag == "button" and (to := given.get("formaction")):
            self.acts.append(to)
        if self._getting and tag in ("input", "select", "textarea") and (name := given.get("name")):
            self.fields.append(str(name))

    def _refuse(self, why: str, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.faults.append(f"{why}: {f'<{tag} {attrs}>'[:200]}")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._getting = False

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"a comment: {data[:100]}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@lru_cache(maxsize=10_000)
def _harmless(link: str) -> bool:
    """Whether it stays with us, or leads to a page of the web, or to somebody's mail."""
    if re.search(r"[\x00-\x20\\]", link):
        return False
    parts = urlsplit(link)
    if parts.scheme in ("http", "https", "mailto"):
        return "evil.test" not in parts.netloc
    return not parts.scheme and not link.startswith("//")


def faults(text: str) -> list[str]:
    """What must not be there."""
    return Read(text).faults


async def page(client: httpx.AsyncClient, path: str) -> str:
    """What this path answers, which must be a page."""
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def words(text: str) -> str:
    """What a page says, without its tags."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())
