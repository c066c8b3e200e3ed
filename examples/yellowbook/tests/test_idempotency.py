"""Section 4 of the seed, layer by layer, and its four guarantees."""

from __future__ import annotations

from uuid import UUID

from examples.yellowbook.generate import generate_embedding
from examples.yellowbook.tests.book import Book, Row, embedding
from postmill import aenqueue
from tests.support.workers import until


async def state(book: Book, entry: Row) -> str:
    found: str = (await book.job(entry["jobId"]))["state"]
    return found


async def skipped(book: Book, job_id: object) -> str:
    """Why a job did nothing."""
    job = await book.job(job_id)
    assert (job["state"], job["result"]["skipped"]) == ("succeeded", True)
    why: str = job["result"]["why"]
    return why


async def test_layer_1_the_key_and_its_window(book: Book) -> None:
    """Within 24 h the same text is the job that there was; another text is embedded all the same."""
    entry = await book.add(description="Bread")
    assert (await book.change(entry, description="Bread"))["jobId"] == entry["jobId"]
    cakes = await book.change(entry, description="Cakes")
    assert cakes["jobId"] != entry["jobId"]
    old = await book.job(entry["jobId"])
    assert (old["state"], old["reason"]) == ("canceled", f"superseded by {cakes['jobId']}")
    await book.run()
    assert len(book.service.embedded) == 1, "what was superseded never asked the service"
    assert (await book.change(entry, description="Cakes"))["jobId"] == cakes["jobId"], "embedded by now"
    for offset, same in (("23 hours", True), ("25 hours", False)):
        async with book.at(offset) as later:
            again = await later.change(entry, description="Cakes")
        assert (again["jobId"] == cakes["jobId"]) is same
    await book.run("25 hours")
    assert await state(book, again) == "succeeded"
    assert list(book.service.embedded.values()) == [2], (
        "a day later it is embedded anew, as nobody knows by which model"
    )


async def test_layer_1_a_change_beside_a_run(book: Book) -> None:
    """The job runs when the text changes: its answer is thrown away, the new one's is kept, in whatever order they come."""
    entry = await book.add(description="Bread")
    book.service.open.clear()
    async with book.worker():
        await until(lambda: book.service.waiting == 1)
        changed = await book.change(entry, description="Cakes")
        await until(lambda: book.service.waiting == 2)
        book.service.open.set()
    row = await book.entry(entry)
    assert row["embedded_hash"] == row["wanted_hash"]
    assert sorted(book.service.embedded.values()) == [1, 1]
    assert await skipped(book, entry["jobId"]) == "another job already updated this entry"
    assert await state(book, changed) == "succeeded"


async def test_layers_2_and_3_several_executions_one_effect(book: Book) -> None:
    entry = await book.add()
    await book.run()
    before = await book.entry(entry)
    payload = (await book.job(entry["jobId"]))["payload"]
    job = generate_embedding.using(key="twin").new(
        businessId=UUID(entry["id"]), text=payload["text"], enqueuedAt=payload["enqueuedAt"]
    )

    # Layer 2: the same payload once more, as a crash or a replay brings it. Nobody asks the service.
    await book.change(entry, phone="030 1234567")
    twin = await aenqueue(book.conn, job)
    await book.run()
    assert await skipped(book, twin.id) == "embedding already generated"
    after = await book.entry(entry)
    assert [after[name] for name in ("embedding", "embedded_at")] == [
        before[name] for name in ("embedding", "embedded_at")
    ]
    assert after["updated_at"] > before["updated_at"], "which is not what freshness looks at"
    assert list(book.service.embedded.values()) == [1]

    # Layer 3: two at the same moment. Both have looked before either has saved.
    await book.conn.execute(
        "update yellow_book_entry set embedding = null, embedded_hash = null, embedded_at = null"
    )
    book.service.open.clear()
    one, other = [await aenqueue(book.conn, job.using(key=f"race {number}")) for number in (1, 2)]
    async with book.worker():
        await until(lambda: book.service.waiting == 2)
        book.service.open.set()
    results = [(await book.job(job.id))["result"] for job in (one, other)]
    assert sorted(len(result) for result in results) == [1, 2]
    assert {"embeddingSize": 768} in results
    raced = await book.entry(entry)
    assert embedding(raced) == embedding(before), "the same text, the same vector"


async def test_another_text_before_the_run(book: Book) -> None:
    """A replay of what was wanted once: there is another text by now, and the job does nothing."""
    entry = await book.add(description="Bread")
    old = (await book.job(entry["jobId"]))["payload"]
    await book.change(entry, description="Cakes")
    job = generate_embedding.using(key="late").new(
        businessId=UUID(entry["id"]), text=old["text"], enqueuedAt=old["enqueuedAt"]
    )
    late = await aenqueue(book.conn, job)
    await book.run()
    assert await skipped(book, late.id) == "the business has another text by now"
    assert old["text"] not in book.service.embedded
