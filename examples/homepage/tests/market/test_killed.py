"""A worker that dies between two mails, and two workers that read one mailbox at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from examples.homepage.tests.market.market import Market, answer, written
from postmill import NewJob, aenqueue
from tests.support.spawner import ROOT, Spawned, spawner
from tests.support.workers import until

SAM = "sam@seller.example"


@contextmanager
def worker(market: Market, folder: Path) -> Iterator[Spawned]:
    """`postmill worker` in a process."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("POSTMILL_")} | {
        "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
        "POSTMILL_DATABASE_URL": market.site.dsn,
        "HOMEPAGE_DATABASE_URL": market.site.dsn,
    }
    made = spawner().start(["postmill", "worker", "examples.homepage.jobs"], folder, env)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.long  # until the lease of the dead one is over
async def test_a_worker_killed_between_two_mails(market: Market, tmp_path: Path) -> None:
    """The first is taken in and sent, the second begun: each arrives once."""
    first = await market.asked()
    for text in ("one", "two"):
        market.imap.folder.add(answer(first, SAM, text).as_bytes())
    await market.rest()
    market.imap.stalled = "UID FETCH 2 (UID BODY"
    await market.site.enqueue("INBOUND_EMAIL")

    async def one_is_sent() -> bool:
        found = await market.site.rows(
            "select status from mail_messages where body = 'one' and status = 'sent'"
        )
        return market.imap.waiting.is_set() and len(found) == 1

    with worker(market, tmp_path) as victim:
        await until(one_is_sent, 30)
        victim.kill()
    market.imap.stalled = None
    market.imap.go_on.set()
    # The killed worker has brought the schedule, whose runs would be beside the one at hand.
    await market.site.conn.execute("delete from postmill.trigger")
    await market.site.run("2 minutes", hurry=True)
    assert [written(mail) for mail in market.smtp.messages] == ["Is it still there?", "one", "two"]
    assert await market.dispositions() == ["relayed", "relayed"]
    [ended] = await market.site.rows("select last_error from postmill.jobs where job_type = 'INBOUND_EMAIL'")
    assert "lease" in ended["last_error"]


@pytest.mark.parametrize("readers", [2, 5])
async def test_several_that_read_one_mailbox(market: Market, readers: int) -> None:
    """All have the same mail in hand; one of them takes it in, and it is no mail that has taken workers down."""
    first = await market.asked()
    for text in ("one", "two"):
        market.imap.folder.add(answer(first, SAM, text).as_bytes())
    market.imap.stalled = "UID FETCH 1 (UID BODY"
    jobs = [
        (await aenqueue(market.site.conn, NewJob.of("INBOUND_EMAIL").using(key=f"{key}"))).id
        for key in range(readers)
    ]
    await until(
        lambda: sum(said.startswith("UID FETCH 1 (UID BODY") for said in market.imap.commands) == readers
    )
    market.imap.go_on.set()
    await market.work()
    assert sorted(map(written, market.smtp.messages[1:])) == ["one", "two"]
    results = [(await market.site.job(job))["result"] for job in jobs]
    assert sum(result.get("relayed", 0) for result in results) == 2


async def test_a_mail_that_takes_the_worker_down(market: Market) -> None:
    """After three that died of it, it is kept apart unread, and the ones behind it have their turn."""
    first = await market.asked()
    for text in ("deadly", "harmless"):
        market.imap.folder.add(answer(first, SAM, text).as_bytes())
    await market.site.conn.execute(
        "insert into mailboxes (name, uid_validity, trying_uid, tries) values ('INBOX', %s, 1, 3)",
        [market.imap.folder.validity],
    )
    await market.poll()
    assert await market.dispositions() == ["unreadable", "relayed"]
    assert [written(mail) for mail in market.smtp.messages[1:]] == ["harmless"]
