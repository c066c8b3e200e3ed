"""FastAPI: a client from the lifespan, in requests and web sockets, and a worker beside the application."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI, Request, WebSocket

from postmill import Registry
from postmill.contrib.fastapi import Jobs, lifespan
from postmill.testing import assert_enqueued
from tests.contrib.jobs import send_receipt
from tests.support.databases import Database

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have another version of httpx
    from starlette.testclient import TestClient


def application(made: Any) -> FastAPI:
    app = FastAPI(lifespan=made)

    @app.post("/orders/{order}")
    async def order(order: int, jobs: Jobs, request: Request) -> dict[str, Any]:
        id = (await jobs.enqueue(send_receipt.new(order=order))).id
        return {"job": str(id), "own": getattr(request.state, "own", None)}

    @app.get("/jobs/{id}")
    async def wait(id: str, jobs: Jobs) -> str:
        return (await jobs.wait(id, timeout=20)).status

    @app.websocket("/socket")
    async def socket(socket: WebSocket, jobs: Jobs) -> None:
        await socket.accept()
        await socket.send_text(str((await jobs.enqueue(send_receipt.new(order=2))).created))
        await socket.close()

    return app


def test_a_client_and_a_worker(database: Database, capfd: pytest.CaptureFixture[str]) -> None:
    log: list[str] = []

    @asynccontextmanager
    async def own(app: Any) -> AsyncIterator[dict[str, str]]:
        log.append("opened")
        yield {"own": "kept"}
        log.append("closed")

    with TestClient(application(lifespan(database.dsn, inner=own))) as browser:
        assert browser.post("/orders/1").json()["own"] == "kept"
        with browser.websocket_connect("/socket") as socket:
            assert socket.receive_text() == "True"
        with database.connect() as conn:
            assert_enqueued(conn, send_receipt, count=2)
    assert log == ["opened", "closed"]
    made = lifespan(database.dsn, serve=Registry.collect(send_receipt), slots=2)
    with TestClient(application(made)) as browser:
        job = browser.post("/orders/3").json()["job"]
        assert browser.get(f"/jobs/{job}").json() == "succeeded"
    assert "worker_stopped" in capfd.readouterr().err


def test_without_a_lifespan_it_says_what_is_missing() -> None:
    with (
        TestClient(application(None)) as browser,
        pytest.raises(RuntimeError, match=r"FastAPI\(lifespan=lifespan"),
    ):
        browser.post("/orders/1")
