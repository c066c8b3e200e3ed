"""Section 5 of the seed: what becomes a dead letter, what it tells, and every way out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from psycopg import AsyncConnection
from structlog.testing import capture_logs

from examples.upstreams.gemini.server import KEY
from examples.upstreams.script import Answer, Rule, Script
from examples.yellowbook import statements
from examples.yellowbook.tests.book import TOKEN, Book, Row
from postmill import Client
from postmill.domain.letter_care import LetterCare
from postmill.domain.settings_load import load
from postmill.engine.upkeep.retention import RetentionConfig
from tests.archive.support import keeping, settings
from tests.support.databases import Database
from tests.support.workers import until

QUIET = Script(latency=(0.0, 0.0))


def always(status: int) -> Script:
    """Every call gets this status."""
    return Script(latency=(0.0, 0.0), rules=(Rule(every=1, answers=(Answer(status=status),) * 99),))


async def dead(book: Book, **asked: str) -> list[Row]:
    """The dead letters, by the API."""
    answer = await book.admin("GET", "/api/admin/dlq", params=asked)
    found: list[Row] = answer.json()
    return found


async def replay(book: Book, jobs: list[str]) -> None:
    """As an operator does."""
    with Client(book.dsn) as client:
        for job in jobs:
            assert client.replay(job).status == "replayed"


async def test_both_reasons_and_the_way_back(book: Book) -> None:
    """Invalid key and persisting quota: the letters, their statistics, the search beside them, the replay after rotation."""
    quota = [await book.add(name=f"Bakery {number}") for number in range(3)]
    book.service.play(always(429))
    with capture_logs() as lines:
        await book.run()
    failed = [
        line
        for line in lines
        if line["event"] == "embedding_job_failed" and line["jobId"] == quota[0]["jobId"]
    ]
    assert [(line["attempt"], line["willRetry"]) for line in failed] == [
        (1, True), (2, True), (3, True), (4, True), (5, False)
    ]  # fmt: skip
    assert failed[0].items() >= {"businessId": quota[0]["id"], "log_level": "error"}.items()
    assert "quota" in failed[0]["error"]

    book.service.play(QUIET)
    book.service.key = "another key"
    refused = [await book.add(name=f"Patisserie {number}") for number in range(2)]
    await book.run()
    assert await book.rows("select from yellow_book_entry where embedding is not null") == []
    found = (await book.http.get("/api/yellow-books/search", params={"q": "bakery bread"})).json()
    assert (found["mode"], len(found["results"])) == ("keyword", 5), "searchable all the same"
    assert "401" in found["fallback"]

    letters = await dead(book)
    assert [(one["reason"], one["error"]["status"], one["attempts"]) for one in letters] == [
        *[("max_retries_exceeded", 429, 5)] * 3, *[("permanent_error", 401, 1)] * 2
    ]  # fmt: skip
    [letter] = [one for one in letters if one["jobId"] == quota[0]["jobId"]]
    assert list(letter) == [
        "id", "jobId", "jobType", "payload", "error", "failedAt", "attempts", "lastAttemptAt", "reason"
    ]  # fmt: skip
    assert (letter["jobType"], letter["payload"]["attempt"]) == ("generate-embedding", 5)
    assert letter["payload"]["businessId"] == quota[0]["id"]
    assert letter["error"]["code"] == "RESOURCE_EXHAUSTED"
    assert letter["error"]["message"].startswith("429: You exceeded your current quota")
    assert "GeminiError" in letter["error"]["stack"]
    assert KEY not in json.dumps(letters)
    assert letter["lastAttemptAt"] <= letter["failedAt"]
    assert {one["jobId"] for one in await dead(book, reason="permanent_error")} == {
        one["jobId"] for one in refused
    }
    statistics = (await book.admin("GET", "/api/admin/dlq/statistics")).json()
    assert statistics == [
        {"status": 429, "reason": "max_retries_exceeded", "count": 3},
        {"status": 401, "reason": "permanent_error", "count": 2},
    ]
    shown = (await book.http.get(f"/api/yellow-books/{refused[0]['id']}")).json()
    assert shown["embedding"] == "failed"

    measured = (await book.admin("GET", "/api/admin/metrics", params={"minutes": 10})).json()
    times = measured.pop("processingTime")
    assert measured == {
        "throughputPerMinute": 0.5, "successRate": 0.0, "retryRate": 12 / 17, "dlqSize": 5, "queueDepth": 0
    }  # fmt: skip
    assert 0 < times["p50"] <= times["p95"] <= times["p99"]

    book.service.key = KEY
    await replay(book, [one["jobId"] for one in letters])
    await book.run()
    assert await dead(book) == []
    assert await book.rows("select from yellow_book_entry where embedding is null") == []
    assert set(book.service.embedded.values()) == {1}


async def test_the_alarm_and_the_quota_of_the_next_day(book: Book) -> None:
    """The eleventh letter raises an incident. After 24 h the rule of the settings replays what the quota has stopped."""
    care = LetterCare.of(load(statements.FOLDER / "postmill.toml", env={}))
    thresholds = (care.above, json.dumps(dict(care.queues)), json.dumps(dict(care.job_types)))
    watch = "select verb, open from postmill.watch_dead_letters(%s, %s, %s)"
    recover = "select rule, replayed from postmill.recover(%s)"
    rules = json.dumps({name: dict(rule) for name, rule in care.rules.items()})
    await book.delete(await book.add(name="Gone, which nobody can do anything about"))
    book.service.play(always(429))
    await book.add(name="Bakery of yesterday")
    await book.run()
    book.service.key = "another key"
    for number in range(9):
        await book.add(name=f"Bakery {number}")
    await book.run()
    assert await book.rows(watch, *thresholds) == [], "ten letters are none too many"
    await book.add(name="Bakery 10")
    await book.run()
    assert await book.rows(watch, *thresholds) == [{"verb": "raised", "open": 11}]
    incident = await book.row("select * from postmill.incident where kind = 'dead_letters'")
    assert (incident["severity"], incident["job_type"]) == ("warning", "generate-embedding")
    assert incident["title"] == "11 open dead letters of type generate-embedding, more than 10"
    assert incident["facts"]["causes"] == [
        {"status": 401, "reason": "permanent_error", "count": 10},
        {"status": 429, "reason": "max_retries_exceeded", "count": 1},
    ]
    told = "select action from postmill.job_definition where key = 'generate-embedding'"
    assert await book.rows(told) == [{"action": "Check Gemini API status and quotas"}]

    for offset, replayed in (("23 hours", 0), ("25 hours", 1), ("26 hours", 0)):
        async with await AsyncConnection.connect(book.later(offset), autocommit=True) as later:
            [row] = await (await later.execute(recover, [rules])).fetchall()
            assert row == ("quota", replayed)
    book.service.key = KEY
    book.service.play(QUIET)
    await book.run("25 hours")
    yesterday = await book.row("select embedding from yellow_book_entry where name = 'Bakery of yesterday'")
    assert yesterday["embedding"] is not None
    assert {one["reason"] for one in await dead(book)} == {"permanent_error", "subject_deleted"}


async def test_a_deleted_business(book: Book) -> None:
    """Deleted while its job waits, and while the service thinks: buried, with a reason of its own."""
    waits, runs, lives = [await book.add(name=name) for name in ("Waits", "Runs", "Lives")]
    await book.delete(waits)
    book.service.open.clear()
    async with book.worker():

        async def runs_now() -> bool:
            return bool((await book.job(runs["jobId"]))["state"] == "running")

        await until(runs_now)
        await book.delete(runs)
        book.service.open.set()
    letters = await dead(book)
    assert {(one["jobId"], one["reason"], one["attempts"]) for one in letters} == {
        (gone["jobId"], "subject_deleted", 1) for gone in (waits, runs)
    }
    assert letters[0]["error"]["message"] == "subject_deleted"
    assert (await book.job(lives["jobId"]))["state"] == "succeeded"
    assert sum("Waits" in text for text in book.service.embedded) == 0, "nobody asks for what is gone"


async def test_thirty_days_ninety_days_and_for_ever(book: Book, database: Database, tmp_path: Path) -> None:
    """The cleanup policy as the settings of the application have it: cold archive, deletion, and the exception."""
    gone, refused = await book.add(name="Here Today"), await book.add(name="Bakery")
    await book.delete(gone)
    book.service.play(always(400))
    await book.run()
    said = load(statements.FOLDER / "postmill.toml", env={}).retention
    config = RetentionConfig(said.seconds, keep_reasons=said.keep_reasons)

    async def here() -> set[str]:
        return {one["jobId"] for one in await dead(book)}

    async with keeping(database, settings(f"file://{tmp_path}/archive"), config) as keeper:
        await keeper.run("29 days")
        assert (await here(), keeper.rows("dead_letter")) == ({gone["jobId"], refused["jobId"]}, [])
        await keeper.run("32 days")
        assert await here() == {gone["jobId"]}
        assert [row["id"] for row in keeper.rows("dead_letter")] == [refused["jobId"]]
        await keeper.run("89 days")
        assert len(keeper.rows("dead_letter")) == 1
        await keeper.run("92 days")
        assert keeper.rows("dead_letter") == []
        await keeper.run("700 days")
        assert await here() == {gone["jobId"]}


async def test_the_button(book: Book) -> None:
    """It answers a dead letter, goes past the window, waits for nobody twice; and it is the administrator's."""
    entry = await book.add(description="x" * 5990)
    book.service.play(always(400))
    await book.run()
    book.service.play(QUIET)
    await book.change(entry, name="Short & Sweet")
    pressed = await book.regenerate(entry)
    job = await book.job(pressed["jobId"])
    assert (pressed["created"], str(job["replayed_from"])) == (True, entry["jobId"])
    assert job["payload"]["text"].startswith("Short & Sweet"), "the present text, not the one that failed"
    assert await dead(book) == []
    await book.run()
    first = await book.entry(entry)
    assert first["embedded_hash"] == first["wanted_hash"]

    again, twice = await book.regenerate(entry), await book.regenerate(entry)
    assert (again["created"], twice) == (True, {"jobId": again["jobId"], "created": False})
    await book.run()
    assert (await book.entry(entry))["embedded_at"] > first["embedded_at"]
    assert Counter(book.service.embedded.values()) == {2: 1}
    path = f"/api/yellow-books/{entry['id']}/regenerate-embedding"
    assert (await book.http.post(path)).status_code == 401
    wrong = {"Authorization": f"Bearer {TOKEN}!"}
    assert (await book.http.post(path, headers=wrong)).status_code == 401
    gone = "/api/yellow-books/00000000-0000-0000-0000-000000000000/regenerate-embedding"
    assert (await book.admin("POST", gone)).status_code == 404
