"""Which answers are asked for again, and how an answer becomes an error."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from postmill.domain.errors import InvalidValue, SettingsError
from postmill.http import (
    ApiClient,
    ApiError,
    AsyncApiClient,
    Conflict,
    NotFound,
    TooManyRequests,
    Unavailable,
    UnexpectedAnswer,
)
from postmill.http.calls import jobs, work
from postmill.http.trying import Tries

Message = MutableMapping[str, Any]
Answer = tuple[int, dict[str, str], bytes]

GOOD: Answer = (200, {}, json.dumps({"alive": True, "of": "a newer version"}).encode())


def problem(status: int, kind: str, **headers: str) -> Answer:
    document = {"type": f"urn:postmill:problem:{kind}", "title": kind, "status": status, "detail": "so"}
    return status, {"content-type": "application/problem+json"} | headers, json.dumps(document).encode()


class Before:
    """A program before the server: gives these answers, one after the other."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = [*answers]

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        status, headers, body = self.answers.pop(0)
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        await send({"type": "http.response.body", "body": body})


def client(before: Before, **options: Any) -> AsyncApiClient:
    return AsyncApiClient("http://api.test", "k", transport=httpx.ASGITransport(before), **options)


@pytest.mark.parametrize(
    "first",
    [
        problem(429, "too-many-requests"),
        problem(503, "unavailable"),
        problem(409, "request-under-way"),
        (502, {"content-type": "text/html"}, b"<h1>Bad Gateway"),
        (504, {}, b""),
    ],
    ids=lambda first: str(first[0]),
)
async def test_what_may_be_over_soon_is_asked_for_again(first: Answer) -> None:
    before = Before(first, GOOD)
    assert (await client(before).health.alive()).alive
    assert before.answers == []


async def test_what_is_wrong_is_not() -> None:
    before = Before(problem(409, "job-finished"), GOOD)
    with pytest.raises(Conflict):
        await client(before).jobs.cancel("x")
    assert len(before.answers) == 1


async def test_the_server_says_how_long_to_wait() -> None:
    """If that is longer than the caller has, the error comes at once."""
    for error, status in ((TooManyRequests, 429), (Unavailable, 503)):
        before = Before(problem(status, "later", **{"retry-after": "60"}), GOOD)
        with pytest.raises(error):
            await client(before).health.alive()
        assert len(before.answers) == 1


def test_pauses() -> None:
    call = jobs.get_job("x")
    tries = Tries(call, 600.0)

    def pause(status: int, said: str = "") -> float:
        found = tries.after_answer(httpx.Response(status, headers={"retry-after": said}))
        assert found is not None
        return found

    assert pause(503, "7") == 7.0
    assert 5 < pause(503, format_datetime(datetime.now(UTC) + timedelta(seconds=9), usegmt=True)) < 10
    pauses = [pause(503, "soon") for _ in range(9)]
    assert pauses[0] < 1
    assert max(pauses) <= 5.0
    assert tries.after_answer(httpx.Response(200)) is None


def test_a_claim_is_asked_for_again_only_where_it_was_not_done() -> None:
    tries = Tries(work.claim_jobs("w", queues=["q"]), 600.0)
    assert tries.after_answer(httpx.Response(429))
    assert tries.after_failure(httpx.ConnectError("refused"))
    with pytest.raises(Unavailable):
        tries.after_answer(httpx.Response(503))


async def test_other_peoples_errors_are_shown_as_they_are() -> None:
    with pytest.raises(ApiError) as found:
        await client(Before((418, {"x-request-id": "r"}, b"short and stout"))).health.alive()
    assert (found.value.type, found.value.detail, found.value.request_id) == (
        "about:blank", "short and stout", "r",
    )  # fmt: skip
    with pytest.raises(ApiError, match="it leads to https://other"):
        await client(Before((301, {"location": "https://other"}, b""))).health.alive()
    with pytest.raises(NotFound):
        await client(Before((404, {"content-type": "application/problem+json"}, b"{}"))).health.alive()
    with pytest.raises(UnexpectedAnswer, match=r"is http://api.test/healthz the right address"):
        await client(Before((200, {}, b"<html>"))).health.alive()


async def test_further_members_of_a_problem() -> None:
    status, headers, body = problem(409, "job-already-replayed")
    body = json.dumps(json.loads(body) | {"job_id": "other"}).encode()
    with pytest.raises(Conflict) as found:
        await client(Before((status, headers, body))).dead_letters.replay("x")
    assert found.value.more == {"job_id": "other"}


@pytest.mark.parametrize("part", ["", ".", ".."])
def test_a_name_that_leads_elsewhere_is_refused(part: str) -> None:
    with pytest.raises(InvalidValue):
        jobs.get_job(part)


def test_where_and_with_which_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("POSTMILL_API__URL", "POSTMILL_API__KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsError, match="POSTMILL_API__URL"):
        ApiClient()
    monkeypatch.setenv("POSTMILL_API__URL", "http://api.test/tools")
    with pytest.raises(SettingsError, match="POSTMILL_API__KEY"):
        ApiClient()
    monkeypatch.setenv("POSTMILL_API__KEY", "pm_key")
    ApiClient().close()
    for wrong in ("api.test", "ftp://api.test", "http://api.test?x=1", "http://api.test/api/v1"):
        with pytest.raises(SettingsError, match=r"api\.url"):
            ApiClient(wrong)
    with pytest.raises(SettingsError, match="one line"):
        ApiClient(key="pm_ä")
