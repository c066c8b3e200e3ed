"""Documents that tests and the demo ask for: the corpus' files, and odd ones that a file could not keep."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent / "corpus"
XML = "text/xml"


@dataclass(frozen=True, slots=True)
class Document:
    """A body, and what the server says of it."""

    body: bytes
    content_type: str = XML
    encoding: str | None = None


def item(number: int, **fields: str | None) -> str:
    """An item of RSS 2.0; a field that is None is left out."""
    known: dict[str, str | None] = {
        "title": f"Item {number}",
        "link": f"https://news.example/{number}",
        "guid": f"item-{number}",
        "pubDate": f"Mon, 02 Mar 2026 08:{number % 60:02}:00 GMT",
        "description": f"What happened in case {number}.",
    }
    given = known | fields
    return "<item>" + "".join(_element(name, text) for name, text in given.items()) + "</item>"


def rss(items: Iterable[str], head: str = '<?xml version="1.0"?>') -> str:
    """A feed of RSS 2.0."""
    inside = "\n".join(items)
    return (
        f'{head}\n<rss version="2.0"><channel><title>News</title><link>https://news.example/</link>'
        f"<description>All of it</description>\n{inside}\n</channel></rss>"
    )


def corpus() -> dict[str, Document]:
    """The files of the corpus, by name."""
    return {path.name: Document(path.read_bytes()) for path in sorted(FOLDER.iterdir())}


def _element(name: str, text: str | None) -> str:
    if text is None:
        return ""
    mark = ' isPermaLink="false"' if name == "guid" else ""
    return f"<{name}{mark}>{escape(text)}</{name}>"


def _in(
    encoding: str, *, declared: str | None = None, title: str = "Café, crème", kind: str = XML
) -> Document:
    head = '<?xml version="1.0"?>' if declared is None else f'<?xml version="1.0" encoding="{declared}"?>'
    return Document(rss([item(1, title=title)], head).encode(encoding), kind)


def _entity(declarations: str, use: str) -> Document:
    doctype = f'<?xml version="1.0"?>\n<!DOCTYPE rss [{declarations}]>'
    return Document(rss([item(1).replace("Item 1", f"Item {use} 1")], doctype).encode())


def _bomb() -> Document:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return _entity(f'<!ENTITY l0 "lol">{levels}', "&l9;")


_ONE = rss([item(1)]).encode()

ODD: dict[str, Document] = {
    # encodings: undeclared, declared otherwise, marked
    "utf-8-undeclared": _in("utf-8"),
    "latin-1-undeclared": _in("iso-8859-1"),
    "gb18030": _in("gb18030", declared="gb18030", title="新闻 一"),
    "says-utf-8-is-latin-1": _in("iso-8859-1", declared="utf-8"),
    "says-latin-1-is-utf-8": _in("utf-8", declared="iso-8859-1", kind="application/xml; charset=utf-8"),
    "utf-8-with-bom": Document(b"\xef\xbb\xbf" + _ONE),
    "utf-16": _in("utf-16", declared="utf-16"),
    "served-as-html": Document(_ONE, "text/html; charset=utf-8"),
    # characters and entities
    "nbsp": Document(rss([item(1).replace("Item 1", "Item&nbsp;1")]).encode()),
    "beyond-unicode": Document(rss([item(1).replace("Item 1", "Item &#x110000;1")]).encode()),
    "surrogate": Document(rss([item(1).replace("Item 1", "Item &#55296;1")]).encode()),
    "nul": Document(rss([item(1).replace("Item 1", "Item \0 1")]).encode()),
    "backslash-entity": _entity('<!ENTITY place "C:\\data">', "&place;"),
    "external-entity": _entity('<!ENTITY secret SYSTEM "file:///etc/passwd">', "&secret;"),
    "entity-bomb": _bomb(),
    # whole and not
    "leading-blank-lines": Document(b"\n\n  " + _ONE),
    "truncated": Document(rss([item(1), item(2), item(3)]).encode()[:-90]),
    "unclosed-tags": Document(rss([item(1).replace("</title>", ""), item(2)]).encode()),
    "gzip-not-said": Document(gzip.compress(_ONE), "application/x-gzip"),
    "gzip-only-said": Document(_ONE, encoding="gzip"),
    "gzip-cut-off": Document(gzip.compress(rss(map(item, range(300))).encode())[:-1500], encoding="gzip"),
    "no-items": Document(rss([]).encode()),
    # dates
    "odd-dates": Document(
        rss(
            item(number, pubDate=date)
            for number, date in enumerate(
                (
                    "2026-03-02T08:00:00Z",
                    "Mon, 2 Mar 26 08:00 PST",
                    "Thursday, 05-Mar-26 08:00:00 GMT",
                    "yesterday",
                    "Mon, 02 Mar 99999 08:00:00 GMT",
                    "",
                ),
                1,
            )
        ).encode()
    ),
}
"""Those of which something can be kept."""

HOPELESS: dict[str, Document] = {
    "empty": Document(b""),
    "blank": Document(b" \n\n"),
    "a-page": Document(
        b"<!DOCTYPE html><html><head><title>Hello</title></head><body><p>No feed.</body></html>"
    ),
    "json": Document(b'{"error": "moved"}', "application/json"),
    "text": Document(b"/etc/passwd", "text/plain"),
    "truncated-at-once": Document(b'<?xml version="1.0"?><rss version="2.0"><channel><title>Ne'),
    "picture": Document(bytes(range(256)) * 8, "image/png"),
}
"""Those that are an error, with a reason."""


def huge(size: int) -> bytes:
    """A feed of at least so many bytes."""
    text = "It goes on and on. " * 50
    one = len(item(1, description=text))
    return rss(item(number, description=text) for number in range(size // one + 1)).encode()


def endless(size: int) -> bytes:
    """A feed that keeps a parser busy for the square of its size: an author that is nearly an e-mail address."""
    return rss([item(1, author="a." * (size // 2) + "@")]).encode()
