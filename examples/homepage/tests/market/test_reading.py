"""Mails as the world writes them: charsets, HTML, files, and what is no mail at all."""

from __future__ import annotations

import contextlib
import time

import pytest

from examples.homepage.mail.incoming import Unreadable, read
from examples.homepage.mail.masking import HIDDEN, hide_addresses, one_line

HEAD = b"From: Sam <sam@seller.example>\r\nTo: m1@relay.example\r\n"


def body(content_type: str, data: bytes, more: bytes = b"") -> str:
    """What is read of a mail of one part."""
    return read(HEAD + f"Content-Type: {content_type}\r\n".encode() + more + b"\r\n" + data).text.body


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("utf-8", "Grüße 🚲".encode(), "Grüße 🚲"),
        ("iso-8859-1", "Grüße".encode("latin-1"), "Grüße"),
        ("koi8-r", "Да".encode("koi8-r"), "Да"),
        ("gb2312", "自行车".encode("gb2312"), "自行车"),
        ("iso-2022-jp", "自転車".encode("iso-2022-jp"), "自転車"),
        ("utf-16", "Rad".encode("utf-16"), "Rad"),
        ("utf-8", b"Gr\xfc\xdfe", "Gr\ufffd\ufffde"),
        ("no-such-thing", "Grüße".encode(), "Grüße"),
        ("no-such-thing", "Grüße".encode("cp1252"), "Grüße"),
        ("punycode", b"Gr\xfc", "Grü"),
        ("hex", b"6869", "6869"),
        ('"; charset=', b"hi", "hi"),
    ],
)
def test_charsets(charset: str, data: bytes, text: str) -> None:
    """Known, wrong, unknown, and such as are none."""
    assert body(f"text/plain; charset={charset}", data) == text


def test_html_only() -> None:
    """Its text, in lines; of a mail that has both, the plain one."""
    page = b"<style>p{}</style><p>Hello&nbsp;<b>you</b></p><div>one<br>two</div><script>x()</script><table><td>a<td>b"
    assert body("text/html", page).split("\n") == ["Hello you", "", "one", "two", "", "a b"]
    both = (
        b"Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\n%b\r\n"
        b"--x\r\nContent-Type: text/html\r\n\r\n<p>page</p>\r\n--x--\r\n"
    )
    assert [read(HEAD + both % text).text.body for text in (b"plain", b"  ")] == ["plain", "page"]


def test_files_are_counted_and_left_out() -> None:
    """Also a text that is a file, and a mail within."""
    parts = (
        b"Content-Type: text/plain\r\n\r\nSee.",
        b"Content-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nsam@seller.example",
        b"Content-Type: image/jpeg\r\nContent-Transfer-Encoding: base64\r\n\r\n/9j/",
        b"Content-Type: message/rfc822\r\n\r\nFrom: x@y.example\r\n\r\nsecret",
    )
    mixed = (
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n"
        + b"\r\n--x\r\n".join(parts)
        + b"\r\n--x--\r\n"
    )
    text = read(HEAD + mixed).text
    assert (text.body, text.attachments) == ("See.", 3)


def test_headers() -> None:
    """Encoded, raw, folded, broken, missing."""
    raw = (
        b"From: =?utf-8?q?S=C3=A4m?= <Sam@Seller.example>\r\nTo: (a) m1@relay.example,\r\n m2@relay.example\r\nCc: @@\r\n"
        b"Subject: =?no-such?q?Gr=FC=DFe?= =?utf-8?b?!!!?= \xfcber =?utf-8?q?a=0D=0AB?=\r\n"
        b"References: <1@x> junk <2@x>\r\nIn-Reply-To: <3@x>\r\n\r\n"
    )
    mail = read(raw)
    assert mail.sender == "sam@seller.example"
    assert mail.recipients[:2] == ["m1@relay.example", "m2@relay.example"]
    assert mail.subject.startswith("Grüße")
    assert "\n" not in mail.subject
    assert (mail.message_id, mail.answers) == (None, ["<3@x>", "<2@x>", "<1@x>"])
    nothing = read(b"")
    assert (nothing.sender, nothing.recipients, nothing.subject, nothing.text.body) == ("", [], "", "")


@pytest.mark.parametrize(
    "raw",
    [
        HEAD
        + b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(2000)
        ),
        HEAD + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n\r\n" * 50_000,
        HEAD + b"Content-Type: text/html\r\n\r\n" + b"<div>" * 80_000 + b"deep",
        HEAD + b"Content-Type: text/html\r\n\r\n" + b"<" * 400_000,
        HEAD + b"To: " + b"a@b.example, " * 100_000 + b"\r\n\r\n",
        HEAD + b"Subject: " + b"=?utf-8?q?=41?= " * 100_000 + b"\r\n\r\n",
        HEAD + b"Content-Type: text/plain; " + b"a*0=b; " * 20_000 + b"\r\n\r\nx",
        HEAD + b"Content-Type: text/plain; " + b"a=b; " * 300_000 + b"\r\n\r\nx",
        HEAD + b"Content-Type: multipart/mixed; boundary=x; " + b"a=b; " * 300_000 + b"\r\n\r\n--x\r\n\r\nx",
        bytes(range(256)) * 400,
    ],
    ids=["nested", "parts", "depth", "open", "addresses", "words", "parameters", "more", "in parts", "noise"],
)
def test_what_is_made_to_hurt(raw: bytes) -> None:
    """Read, or refused, in a bounded time."""
    began = time.process_time()
    with contextlib.suppress(Unreadable):
        assert len(read(raw).text.body) <= 400_000
    assert time.process_time() - began < 5


def test_addresses_are_hidden() -> None:
    """However they are written down; masks may stand there."""
    real = ["Sam@Seller.example"]
    text = "sam@SELLER.example, <mailto:Jo.Doe+x@a-b.co.uk?subject=x>, jo%40b.example, m1@relay.example, a @ b, x@localhost"
    assert hide_addresses(text, real, "relay.example") == (
        f"{HIDDEN}, <mailto:{HIDDEN}?subject=x>, {HIDDEN}, m1@relay.example, a @ b, x@localhost"
    )
    assert hide_addresses("evil@relay.example.org", real, "relay.example") == HIDDEN
    began = time.process_time()
    hide_addresses("a" * 100_000 + "@", real, "relay.example")
    hide_addresses("a@b." * 25_000, real, "relay.example")
    assert time.process_time() - began < 3
    assert one_line("a\r\nb\t\u2028c" + "x" * 300, 8) == "a  b  cx"
