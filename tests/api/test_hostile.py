"""What no generator of valid requests sends: broken bytes, foreign media types and odd headers, to every operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from postmill.api.document import METHODS
from postmill.domain.access import Role
from tests.support.api import BASE, Api, unknown_id
from tests.support.reference.http import document

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = "application/json"
BODIES: list[tuple[str, bytes]] = [
    (JSON, b"\xff\xfe\x00"),
    (JSON, b'{"a": "\xc3\x28"}'),
    (JSON, b'{"a": "\xed\xa0\x80"}'),
    (JSON, b"\xef\xbb\xbf{}"),
    (JSON, b'{"\\ud800": 1}'),
    (JSON, b'{"a\\u0000": "\\u0000"}'),
    (JSON, b"[" * 50_000),
    (JSON, b'{"payload":' * 5000 + b"1" + b"}" * 5000),
    (JSON, b'{"priority": ' + b"9" * 5000 + b"}"),
    (JSON, b'{"priority": 1e400, "weight": -1e400, "timeout_seconds": NaN}'),
    (JSON, b'{"priority": 99999999999999999999999}'),
    (JSON, b"null"),
    (JSON, b'"text"'),
    (JSON, b"[[]]"),
    (JSON, b'{"self": 1, "schema": "x", "name": "x", "id": 1, "by": 2, "body": {}, "__class__": "x"}'),
    ("application/json; charset=utf-16", '{"a": 1}'.encode("utf-16")),
    ("application/json;;;=", b"{}"),
    ("text/plain", b"{}"),
    ("application/xml", b"<a/>"),
    ("application/x-www-form-urlencoded", b"a=1&a=2"),
    ("multipart/form-data", b"--x\r\n"),
    ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\n\x00\r\n--x--"),
    ("\x80", b"{}"),
]

HEADERS: list[dict[str, bytes]] = [
    {"If-Match": b'"x"', "If-None-Match": b"*", "If-Modified-Since": b"yesterday", "Range": b"bytes=9-1"},
    {"X-Correlation-ID": b"\xff", "traceparent": b"00-" + b"f" * 60, "X-Request-ID": b"\xfe"},
    {"Accept": b"\xff, */*;q=x", "Accept-Encoding": b"br;q=nan", "Cookie": b"postmill_session=\xff; ;=;"},
    {"Idempotency-Key": b"\xff"},
    {"Forwarded": b"for=\xff", "X-Forwarded-For": b"'", "X-Forwarded-Proto": b"\x7f", "Host": b"\xff:x"},
]

QUERIES = [
    *(
        "%00",
        "a=%ff",
        "limit=1&limit=2",
        "limit=%F0%9F%98%80",
        "limit=1e1",
        "limit=" + "9" * 5000,
        "=",
        "&&",
        "a[]=1",
    ),
    *(
        "cursor=%ED%A0%80",
        "cursor=bnVsbA",
        "created_after=0.5",
        "created_after=1e300",
        "offset=-0",
        "since=99999999999",
    ),
]


def operations() -> Iterator[tuple[str, str, bool]]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                filled = re.sub(r"{([^}]*)}", lambda found: _value(found[1]), path)
                yield method.upper(), filled, "requestBody" in item[method]


def _value(name: str) -> str:
    return unknown_id() if name.endswith("_id") else "default"


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
async def test_no_body_and_no_header_is_a_fault_of_ours(api: Api, every: int) -> None:
    """Of so many each operation gets one, its neighbour the next."""
    await api.define("plain")
    clients = [await api.client(role, None) for role in (Role.SUPER_ADMIN, Role.WORKER)]
    wrong: list[Any] = []
    asked = 0
    for number, (method, path, has_body) in enumerate(operations()):
        client = clients["/worker/" in path]
        sends: list[dict[str, Any]] = [{"headers": headers} for headers in HEADERS]
        sends += [
            {"headers": {"Content-Type": kind.encode("latin-1")}, "content": raw}
            for kind, raw in BODIES
            if has_body
        ]
        for send in sends[number % every :: every]:
            answer = await client.request(method, f"{BASE}{path}", **send)
            asked += 1
            if answer.status_code >= 500 or "x-request-id" not in answer.headers:
                wrong.append((method, path, send, answer.status_code, answer.text[:300]))
    assert wrong == []
    assert asked > 800 // every


async def test_no_query_is_a_fault_of_ours(api: Api) -> None:
    client = await api.client(Role.SUPER_ADMIN, None)
    wrong = []
    for number, (method, path, _) in enumerate(operations()):
        if method != "GET" or "/worker/" in path or path in ("/login", "/readyz", "/healthz"):
            continue
        for query in QUERIES[number % 3 :: 3]:
            answer = await client.get(f"{BASE}{path}?{query}")
            # Who has such a thing not at all may say so first.
            if answer.status_code not in (404, 422) and not query.startswith(("offset=-0", "&&", "cursor=")):
                wrong.append((path, query, answer.status_code, answer.text[:200]))
    assert wrong == []
