"""What a browser says to the proxy, and what is made of it."""

from __future__ import annotations

import pytest

from examples.homepage.screenshots.heads import BadHead, Request, answer, interim, request


def test_requests() -> None:
    """A tunnel, or one request in the form that servers want."""
    assert request(b"CONNECT [::1]:443 HTTP/1.1\r\nHost: x\r\n\r\n") == Request("::1", 443, b"", 0)
    line, host = b"POST http://a.example:81/x?y HTTP/1.1\r\n", b"Host: a.example:81\r\n"
    head = line + host + b"Proxy-Connection: keep-alive\r\nContent-Length: 3\r\n\r\n"
    sent = b"POST /x?y HTTP/1.1\r\nHost: a.example:81\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
    assert request(head) == Request("a.example", 81, sent, 3)
    assert request(b"GET http://a.example HTTP/1.1\r\n\r\n").head.startswith(b"GET / HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "head",
    [
        b"\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET ftp://a/ HTTP/1.1\r\n\r\n", b"GET file:///etc HTTP/1.1\r\n\r\n",
        b"CONNECT a HTTP/1.1\r\n\r\n", b"CONNECT :80 HTTP/1.1\r\n\r\n", b"CONNECT a:99999 HTTP/1.1\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"GET http://\xff/ HTTP/1.1\r\n\r\n",
    ],
)  # fmt: skip
def test_what_no_browser_says(head: bytes) -> None:
    with pytest.raises(BadHead):
        request(head)


def test_answers() -> None:
    """Nothing more comes on a connection that leads to one host."""
    told = answer(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: 9\r\nX: y\r\n\r\n")
    assert told == b"HTTP/1.1 200 OK\r\nX: y\r\nConnection: close\r\n\r\n"
    assert [interim(b"HTTP/1.1 %d x\r\n\r\n" % status) for status in (100, 103, 200, 404)] == [
        True,
        True,
        False,
        False,
    ]
