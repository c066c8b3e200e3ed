from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from postmill.telemetry.counters import Counters
from postmill.telemetry.http import MAX_CONNECTIONS, MetricsServer
from postmill.telemetry.metrics import render


@pytest.fixture
def state() -> dict[str, Any]:
    return {"ready": True, "database": "here"}


@pytest.fixture
def server(state: dict[str, Any]) -> Iterator[MetricsServer]:
    def health() -> tuple[bool, dict[str, Any]]:
        return state["ready"], {"database": state["database"]}

    with MetricsServer(
        lambda: render(Counters()), health=health, read_timeout=1.0, write_timeout=1.0
    ) as server:
        yield server


def ask(server: MetricsServer, path: str, method: str = "GET") -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def raw(server: MetricsServer, *parts: bytes) -> bytes:
    """What comes back for these bytes, until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        for part in parts:
            client.sendall(part)
        return until_closed(client)


def until_closed(client: socket.socket) -> bytes:
    answer = b""
    try:
        while part := client.recv(65536):
            answer += part
    except ConnectionResetError:
        pass
    return answer


def test_metrics_come_as_prometheus_text(server: MetricsServer) -> None:
    response, body = ask(server, "/metrics?x=1")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert b"# TYPE jobs_enqueued_total counter" in body
    assert int(response.headers["Content-Length"]) == len(body)


def test_it_listens_on_loopback_unless_told_otherwise(server: MetricsServer) -> None:
    assert server.url == f"http://127.0.0.1:{server.port}"
    assert server.port > 0


def test_alive_is_not_ready(server: MetricsServer, state: dict[str, Any]) -> None:
    for path in ("/healthz", "/readyz"):
        response, body = ask(server, path)
        assert (response.status, json.loads(body)) == (200, {"ready": True, "database": "here"})
    state.update(ready=False, database="away")
    assert ask(server, "/healthz")[0].status == 200
    response, body = ask(server, "/readyz")
    assert (response.status, json.loads(body)) == (503, {"ready": False, "database": "away"})


def test_head_has_no_body(server: MetricsServer) -> None:
    response, body = ask(server, "/metrics", "HEAD")
    assert response.status == 200
    assert int(response.headers["Content-Length"]) > 1000
    assert body == b""


def test_other_paths_and_methods_are_told_what_there_is(server: MetricsServer) -> None:
    response, body = ask(server, "/")
    assert response.status == 404
    assert b"/metrics" in body
    response, _ = ask(server, "/metrics", "POST")
    assert response.status == 405
    assert response.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",  # a TLS client
        b"\x00\xff\xfe\n\n",
        b"GET\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET  /metrics HTTP/1.1\r\n\r\n",
        b"get /metrics HTTP/1.1\r\n\r\n",
        b"GET /metrics HTTP/2.0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_garbage_is_a_bad_request_and_hurts_nobody(server: MetricsServer, garbage: bytes) -> None:
    assert raw(server, garbage).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert ask(server, "/healthz")[0].status == 200


def test_headers_without_end_are_refused(server: MetricsServer) -> None:
    many = b"".join(b"X-%d: y\r\n" % n for n in range(5000))
    assert b" 431 " in raw(server, b"GET /metrics HTTP/1.1\r\n" + many)
    assert b" 431 " in raw(server, b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 100_000)
    assert ask(server, "/healthz")[0].status == 200


def test_a_client_that_leaves_at_once_hurts_nobody(server: MetricsServer) -> None:
    for _ in range(20):
        socket.create_connection(("127.0.0.1", server.port), timeout=10).close()
    assert ask(server, "/healthz")[0].status == 200


def test_slow_clients_are_cut_off_and_others_served_meanwhile(server: MetricsServer) -> None:
    started = time.monotonic()
    slow = socket.create_connection(("127.0.0.1", server.port), timeout=10)
    slow.sendall(b"GET /metrics HTTP/1.1\r\nHost:")
    assert ask(server, "/metrics")[0].status == 200
    with slow:  # one byte at a time buys no more time
        try:
            while time.monotonic() - started < 40:
                slow.sendall(b"x")
                slow.settimeout(0.1)
                try:
                    if slow.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
        except OSError:
            pass
    assert 0.9 < time.monotonic() - started < 30


def test_more_slow_clients_than_are_served_at_a_time_shut_nobody_out(server: MetricsServer) -> None:
    slow = [
        socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(MAX_CONNECTIONS + 20)
    ]
    try:
        for client in slow:
            client.sendall(b"GET ")
        response, _ = ask(server, "/metrics")
        assert response.status == 200
    finally:
        for client in slow:
            client.close()


def test_a_client_that_takes_no_answer_is_cut_off() -> None:
    with MetricsServer(lambda: b"x" * 20_000_000, write_timeout=0.5) as server, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        assert ask(server, "/healthz")[0].status == 200
        deadline = time.monotonic() + 10
        while server._open and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not server._open
        client.settimeout(10)
        assert len(until_closed(client)) < 20_000_000


def test_a_page_that_cannot_be_made_is_a_500_without_details(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> bytes:
        raise RuntimeError("password=hunter2")

    with MetricsServer(broken) as server:
        response, body = ask(server, "/metrics")
        assert response.status == 500
        assert b"hunter2" not in body
        assert ask(server, "/readyz")[0].status == 200
    assert "answering /metrics failed" in caplog.text


def test_it_answers_while_the_main_thread_is_busy(server: MetricsServer) -> None:
    answers: list[int] = []
    thread = threading.Thread(target=lambda: answers.append(ask(server, "/metrics")[0].status))
    thread.start()
    deadline = time.monotonic() + 10
    while not answers and time.monotonic() < deadline:
        sum(range(10_000))  # as a handler does that never lets the loop run
    thread.join()
    assert answers == [200]


def test_a_taken_port_is_an_os_error_and_leaves_no_thread() -> None:
    before = threading.active_count()
    with MetricsServer(lambda: b"") as server:
        second = MetricsServer(lambda: b"", port=server.port)
        with pytest.raises(OSError, match="in use"):
            second.start()
        second.stop()
    assert threading.active_count() == before


def test_it_starts_once_stops_twice_and_starts_again() -> None:
    server = MetricsServer(lambda: b"")
    server.stop()
    server.start()
    with pytest.raises(RuntimeError, match="already started"):
        server.start()
    port = server.port
    server.stop()
    server.stop()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=10)
    server.start()
    try:
        assert ask(server, "/healthz")[0].status == 200
    finally:
        server.stop()


def test_stopping_does_not_wait_for_a_client() -> None:
    server = MetricsServer(lambda: b"", read_timeout=60)
    server.start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(b"GET ")
        started = time.monotonic()
        server.stop()
        assert time.monotonic() - started < 30
        assert until_closed(client) == b""
