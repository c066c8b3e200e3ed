"""The API, and what it asks of the queue: the seed's trigger, payload and outcome."""

from __future__ import annotations

import statistics
from datetime import datetime
from time import perf_counter
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from examples.yellowbook.payload import EmbeddingJobPayload
from examples.yellowbook.tests.book import BAKERY, Book, embedding
from postmill import EnqueueRefused
from tests.support.workers import until

RUNNING = "select id from postmill.jobs where status = 'running'"


async def test_answers_at_once_while_the_embedding_takes_its_time(book: Book) -> None:
    """The seed's summary: from 5 s to less than 100 ms. The service does not answer at all meanwhile."""
    book.service.open.clear()
    async with book.worker():
        times = []
        for number in range(12):
            begun = perf_counter()
            entry = await book.add(name=f"Bakery {number}")
            middle = perf_counter()
            changed = await book.change(entry, description=f"Bread, and {number} kinds of cake")
            times += [middle - begun, perf_counter() - middle]
            assert (entry["embedding"], changed["embedding"]) == ("pending", "pending")

        async def all_slots_wait() -> bool:
            return len(await book.rows(RUNNING)) == 8

        await until(all_slots_wait)
        assert book.service.embedded == {}
        book.service.open.set()
    # The quicker quarter of them: on a machine that does much else all may be slow now and then, but not for the service.
    assert statistics.quantiles(times, n=4)[0] < 0.1
    ready = await book.rows("select embedding from yellow_book_entry where embedding is not null")
    assert [len(embedding(row)) for row in ready] == [768] * 12


async def test_the_job_and_its_payload(book: Book) -> None:
    """A job where a description is given or changed, and only there; its payload to the letter."""
    bare = await book.add(description=None)
    empty = await book.add(description="  ")
    assert [(entry["jobId"], entry["embedding"]) for entry in (bare, empty)] == [(None, "none")] * 2
    entry = await book.add()
    job = await book.job(entry["jobId"])
    assert (job["job_type"], job["queue"], job["attempt"]) == ("generate-embedding", "embeddings", 1)
    assert job["idempotency_key"] == f"embedding:{entry['id']}"
    enqueued = job["payload"].pop("enqueuedAt")
    assert datetime.fromisoformat(enqueued).utcoffset() is not None
    assert abs((datetime.fromisoformat(enqueued) - job["created_at"]).total_seconds()) < 1
    text = f"{BAKERY['name']}\n{BAKERY['description']}\nfood, bakery\nUtrecht"
    assert job["payload"] == {"businessId": entry["id"], "text": text, "attempt": 1}
    row = await book.entry(entry)
    payload = EmbeddingJobPayload(UUID(entry["id"]), text, 1, datetime.fromisoformat(enqueued))
    assert (row["text"], row["wanted_hash"]) == (text, payload.hash), "Python and SQL hash alike"

    renamed = await book.change(entry, name="Crumb & Ember", phone="030 1234567", categories=["food"])
    assert renamed["jobId"] == entry["jobId"]
    first = await book.change(bare, description="Also a bakery, but a silent one")
    assert first["jobId"] is not None
    refused = {
        "name": await book.http.post("/api/yellow-books", json={"city": "Utrecht"}),
        "colour": await book.http.post("/api/yellow-books", json=BAKERY | {"colour": "yellow"}),
        "city": await book.http.patch(f"/api/yellow-books/{entry['id']}", json={"city": None}),
    }
    for name, answer in refused.items():
        assert (answer.status_code, name in answer.text) == (422, True)
    for method in ("GET", "PATCH", "DELETE"):
        answer = await book.http.request(method, f"/api/yellow-books/{uuid4()}", json={})
        assert answer.status_code == 404
    assert len(await book.rows("select from postmill.jobs")) == 2


async def test_where_no_job_can_be_made_no_entry_is_left(book: Book) -> None:
    """One transaction: a job that is refused takes the entry with it."""
    entry = await book.add()
    await book.conn.execute("update postmill.job_definition set is_active = false")
    with pytest.raises(EnqueueRefused, match="generate-embedding"):
        await book.add(name="Another bakery")
    with pytest.raises(EnqueueRefused, match="generate-embedding"):
        await book.change(entry, description="No bread today")
    assert [row["text"] for row in await book.rows("select text from yellow_book_entry")] == [
        (await book.job(entry["jobId"]))["payload"]["text"]
    ]


async def test_an_embedding_is_saved_and_told(book: Book) -> None:
    """Outcome, and the seed's log lines with their fields."""
    entry = await book.add()
    with capture_logs() as lines:
        await book.run()
    row, job = await book.entry(entry), await book.job(entry["jobId"])
    assert len(embedding(row)) == 768
    assert (job["state"], job["result"]) == ("succeeded", {"embeddingSize": 768})
    assert row["embedded_at"] > row["updated_at"], "only editing moves updated_at"
    shown = (await book.http.get(f"/api/yellow-books/{entry['id']}")).json()
    assert (shown["embedding"], shown["updatedAt"]) == ("ready", entry["updatedAt"])
    assert book.service.embedded == {row["text"]: 1}
    ours = [line for line in lines if line["event"].startswith("embedding_job_")]
    assert [line["event"] for line in ours] == ["embedding_job_started", "embedding_job_completed"]
    about = {"jobId": entry["jobId"], "businessId": entry["id"]}
    assert ours[0].items() >= (about | {"attempt": 1, "log_level": "info"}).items()
    assert ours[1].items() >= (about | {"embeddingSize": 768, "log_level": "info"}).items()
    assert isinstance(ours[1]["duration"], int)

    await book.change(entry, name="Crumb & Ember")
    shown = (await book.http.get(f"/api/yellow-books/{entry['id']}")).json()
    assert shown["embedding"] == "stale"
