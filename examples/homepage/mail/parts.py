"""The text that somebody wrote, out of all that a mail is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message

from examples.homepage.mail.decoding import decode
from examples.homepage.mail.html import plain

MOST_PARTS = 500
MOST_TEXT = 400_000
"""Bytes of text, marked up or not, that are looked at in each part."""


@dataclass(frozen=True, slots=True)
class Text:
    """What was written, and how many files came with it."""

    body: str = ""
    attachments: int = 0


def text_of(mail: Message) -> Text:
    """The plain text of a mail; of one that has only HTML, its text."""
    plains: list[str] = []
    pages: list[str] = []
    attachments = 0
    for part in leaves(mail):
        kind = part.get_content_type()
        if kind not in ("text/plain", "text/html") or _is_file(part):
            attachments += 1
            continue
        (plains if kind == "text/plain" else pages).append(_decoded(part))
    written = "\n".join(plains).strip()
    # A plain part may be there and empty, beside the HTML in which everything is.
    body = written or "\n".join(plain(page) for page in pages)
    return Text(body.replace("\r\n", "\n").strip(), attachments)


def leaves(mail: Message) -> Iterator[Message]:
    """The parts that hold something, in their order; a mail within a mail is one. At most MOST_PARTS."""
    waiting, found = [mail], 0
    while waiting and found < MOST_PARTS:
        part = waiting.pop()
        # Asked for only where it is a list: of text it would be decoded, by whatever the mail calls its charset.
        if part.is_multipart() and part.get_content_maintype() != "message":
            waiting.extend(reversed([inner for inner in part.get_payload() if isinstance(inner, Message)]))
        else:
            found += 1
            yield part


def _is_file(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or part.get_filename() is not None


def _decoded(part: Message) -> str:
    data = part.get_payload(decode=True)
    return decode(data[:MOST_TEXT], part.get_content_charset()) if isinstance(data, bytes) else ""
