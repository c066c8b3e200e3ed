"""The client of the Gemini API against the stand-in, and the form of what it sends."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from examples.upstreams.gemini.server import KEY, MODEL, GeminiServer
from examples.upstreams.script import Answer, Body, Rule, Script
from examples.yellowbook.gemini.client import Gemini
from examples.yellowbook.gemini.errors import GeminiError, of_response
from tests.support.ports import unused_port


def always(answer: Answer) -> Script:
    """Every call gets this answer."""
    return Script(latency=(0.0, 0.0), rules=(Rule(every=1, answers=(answer,) * 50),))


@pytest_asyncio.fixture
async def gemini(service: GeminiServer) -> AsyncIterator[Gemini]:
    async with Gemini(service.url, lambda: KEY, MODEL, 5.0) as client:
        yield client


async def fault(client: Gemini, text: str = "bread") -> tuple[int | None, str]:
    """Status and code of the error that a call ends with."""
    with pytest.raises(GeminiError) as caught:
        await client.embed(text)
    assert KEY not in str(caught.value)
    return caught.value.status, caught.value.code


async def test_vectors(service: GeminiServer, gemini: Gemini) -> None:
    one = await gemini.embed("A bakery with sourdough bread")
    assert len(one) == 768
    assert math.hypot(*one) == pytest.approx(1, abs=1e-4)
    again, other, query = await asyncio.gather(
        gemini.embed("A bakery with sourdough bread"),
        gemini.embed("Tyres and brakes"),
        gemini.embed("bakerys with bread", "RETRIEVAL_QUERY"),
    )
    assert again == one, "deterministic"
    near, far = (sum(a * b for a, b in zip(query, vector, strict=True)) for vector in (one, other))
    assert near > far + 0.2
    many = await gemini.embed_many(["Tyres and brakes", "A bakery with sourdough bread"])
    assert many == [other, one], "in the order of the texts"
    assert service.embedded["A bakery with sourdough bread"] == 3


async def test_errors_by_status_and_code(service: GeminiServer, gemini: Gemini) -> None:
    codes = {
        400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL", 503: "UNAVAILABLE",
    }  # fmt: skip
    for status, code in codes.items():
        service.play(always(Answer(status=status)))
        assert await fault(gemini) == (status, code)
    bodies: dict[Body, str] = {"garbage": "BAD_ANSWER", "cut": "ECONNRESET", "none": "ECONNRESET"}
    for body, code in bodies.items():
        service.play(always(Answer(body=body)))
        assert await fault(gemini) == (None, code)
    service.play(Script(latency=(0.0, 0.0)))
    assert await fault(gemini, "x" * 9000) == (400, "INVALID_ARGUMENT")
    assert await fault(gemini, " ") == (400, "INVALID_ARGUMENT")
    with pytest.raises(GeminiError, match="at most 100"):
        await gemini.embed_many(["bread"] * 101)


async def test_waits_that_are_asked_for(service: GeminiServer, gemini: Gemini) -> None:
    """By the header, and by google.rpc.RetryInfo where there is none."""
    service.play(always(Answer(status=429, retry_after="7")))
    with pytest.raises(GeminiError, match="quota") as caught:
        await gemini.embed("bread")
    assert caught.value.retry_after == "7"
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    body = {"error": {"message": "no", "status": "INVALID_ARGUMENT", "details": [info, reason]}}
    error = of_response(httpx.Response(400, json=body))
    assert (error.retry_after, error.code) == (34.5, "API_KEY_INVALID")
    assert of_response(httpx.Response(502, text="<html>bad gateway")).code == "HTTP_502"


async def test_nobody_answers(service: GeminiServer) -> None:
    async with Gemini(service.url, lambda: KEY, MODEL, 0.05) as impatient:
        service.open.clear()
        assert await fault(impatient) == (None, "ETIMEDOUT")
        service.open.set()
    async with Gemini(f"http://127.0.0.1:{unused_port()}", lambda: KEY, MODEL, 5.0) as lost:
        assert await fault(lost) == (None, "ECONNREFUSED")
    async with Gemini(service.url, lambda: "an old key", MODEL, 5.0) as shut_out:
        assert await fault(shut_out) == (401, "UNAUTHENTICATED")
    async with Gemini(service.url, lambda: KEY, "none", 5.0) as mistaken:
        assert await fault(mistaken) == (404, "NOT_FOUND")
