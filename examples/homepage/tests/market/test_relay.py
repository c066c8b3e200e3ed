"""`MESSAGE_RELAY`: masked, threaded, sent once, and told where it will never arrive."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import psycopg
import pytest

from examples.homepage.mail.outbox import relay_job
from examples.homepage.marketplace.inquiries import InquiryRefused
from examples.homepage.tests.market.market import RELAY, Market, answer, written
from postmill import aenqueue
from tests.support.workers import until

REAL = (b"sam@seller", b"bea@buyer", b"mail.of")


async def again(market: Market, message: UUID, key: str | None) -> UUID:
    """Another job for a message."""
    return (await aenqueue(market.site.conn, relay_job(message).using(key=key))).id


async def test_a_conversation_with_masked_addresses_threaded_both_ways(market: Market) -> None:
    """There and back again: each side knows the other by a mask, and each mail by an id that it has seen."""
    first = await market.asked("Call me: bea@BUYER.example, or bea%40other.example")
    assert str(first["From"]) == f"Bea via Village Marketplace <{first['From'].addresses[0].addr_spec}>"
    assert first["Reply-To"] == first["From"]
    assert first["To"] == "sam@seller.example"
    assert written(first) == "Call me: [address hidden], or [address hidden]"
    quoting = f"Yes.\n\nOn Monday {first['From']} wrote:\n> is it?\nTo: sam@seller.example"
    market.imap.folder.add(answer(first, "Sam@Seller.example", quoting).as_bytes())
    await market.poll()
    back = market.smtp.messages[-1]
    assert market.smtp.recipients[-1] == ["Bea@Buyer.example"]
    assert str(back["From"].addresses[0]).startswith("Sam via Village Marketplace")
    assert (back["In-Reply-To"], back["References"]) == (first["Message-ID"], first["Message-ID"])
    assert "To: [address hidden]" in written(back)
    assert first["From"].addresses[0].addr_spec in written(back), "a mask may be quoted"
    reply = answer(back, "bea@buyer.example", "I take it.")
    reply.add_attachment(b"\xff\xd8", "image", "jpeg", filename="bea@buyer.example.jpg")
    market.imap.folder.add(reply.as_bytes())
    await market.poll()
    third = market.smtp.messages[-1]
    assert (third.is_multipart(), written(third).split("\n")[::2][1][:11]) == (False, "[1 attached")
    assert third["From"] == first["From"], "one mask for a side, for the whole conversation"
    of_sam = next(mail.raw for mail in market.imap.folder.all() if b"Sam@" in mail.raw)
    assert f"Message-ID: {third['In-Reply-To']}".encode() in of_sam, "their own mail by their own id"
    assert third["References"].split() == [first["Message-ID"], third["In-Reply-To"]]
    masks = {mail["From"].addresses[0].addr_spec for mail in (first, back, third)}
    assert len(masks) == 2
    assert set(market.smtp.senders) == masks, "and bounces come to them"
    for raw, recipient in zip(market.smtp.raw, market.smtp.recipients, strict=True):
        told = [word for word in REAL if word in raw.lower() and word not in recipient[0].lower().encode()]
        assert told == ([b"mail.of"] if raw is market.smtp.raw[2] else []), "but for Sam's own id, to Sam"
    assert await market.dispositions() == ["relayed", "relayed"]


async def test_a_mail_server_that_takes_its_time_keeps_no_other_job(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While mails wait for their answer, their jobs hold no connection."""
    monkeypatch.setenv("HOMEPAGE_CONNECTIONS", "1")
    market.smtp.open.clear()
    await market.inquire()
    working = asyncio.create_task(market.work())
    await until(lambda: market.smtp.waiting == 1)
    job = await market.site.enqueue("CLICK_ROLLUP")

    async def done() -> bool:
        return bool((await market.site.job(job))["state"] == "succeeded")

    try:
        await until(done)
    finally:
        market.smtp.open.set()
        await working
    assert len(market.smtp.messages) == 1


async def test_whoever_sends_it_again_sends_nothing(market: Market) -> None:
    """A job whose message is sent, is another job's, or is not there."""
    message = await market.inquire()
    await market.site.conn.execute(
        "update mail_messages set sending_job = %s, sending_until = postmill.now() + '1 min'", [uuid4()]
    )
    await market.work()
    assert market.smtp.messages == []
    await market.rest()
    await market.site.run("61 s")
    assert len(market.smtp.messages) == 1
    jobs = [await again(market, message, None), await again(market, uuid4(), None)]
    await market.work()
    assert [(await market.site.job(job))["result"] for job in jobs] == [
        {"skipped": "sent"},
        {"skipped": "no such message"},
    ]
    assert len(market.smtp.messages) == 1


async def test_what_is_sent_twice_is_the_same_mail(market: Market) -> None:
    """The line breaks after the server has taken it and before it says so: at least once, and known as one."""
    market.smtp.lost = 1
    message = await market.inquire()
    await market.work(hurry=True)
    assert [mail["Message-ID"] for mail in market.smtp.messages] == [f"<{message}{RELAY}>"] * 2
    assert market.smtp.raw[0] == market.smtp.raw[1]
    assert (await market.message(message))["status"] == "sent"


async def test_4xx_is_tried_again_and_5xx_is_final_with_the_sender_told(market: Market) -> None:
    """Busy twice, then taken; unknown for good, and the notice says nothing of the address."""
    market.smtp.replies = ["451 4.3.0 busy", "421 4.3.2 going away"]
    message = await market.inquire("first")
    await market.work(hurry=True)
    assert [written(mail) for mail in market.smtp.messages] == ["first"]
    market.smtp.refused["sam@seller.example"] = "450 4.2.1 <sam@seller.example> greylisted"
    second = await market.inquire("second")
    await market.work()
    assert (await market.message(second))["status"] == "waiting"
    market.smtp.refused["sam@seller.example"] = "550 5.1.1 <sam@seller.example> nobody of that name"
    await market.work(hurry=True)
    row = await market.message(second)
    assert (row["status"], row["refused_reason"]) == (
        "refused",
        "550 5.1.1 <sam@seller.example> nobody of that name",
    )
    [_, notice] = market.smtp.messages
    assert (notice["To"], market.smtp.senders[-1]) == ("Bea@Buyer.example", "")
    assert (notice["Auto-Submitted"], notice["Subject"]) == ("auto-replied", "Not delivered: Your bicycle")
    assert b"sam@seller" not in market.smtp.raw[-1]
    assert notice["In-Reply-To"] == f"<{second}{RELAY}>"
    assert (await market.message(message))["status"] == "sent"


async def test_a_notice_that_is_refused_makes_no_other(market: Market) -> None:
    """Both sides are gone: it ends there."""
    market.smtp.refused |= {
        "sam@seller.example": "550 no",
        "Bea@Buyer.example": "550 no",
    }
    await market.inquire()
    await market.work()
    found = await market.site.rows("select kind, status from mail_messages order by created_at")
    assert [(row["kind"], row["status"]) for row in found] == [("inquiry", "refused"), ("notice", "refused")]


async def test_no_line_breaks_out_of_a_header(market: Market) -> None:
    """Refused where it is asked, and by the tables; where it comes in by mail it is blanks."""
    for subject in ("a\r\nBcc: all@example.org", "a\nb", "a\0", "x" * 201):
        with pytest.raises(InquiryRefused):
            await market.inquire(subject=subject)
    with pytest.raises(psycopg.errors.CheckViolation):
        await market.member("X", "x@example.org\r\nBcc: y@example.org")
    await market.site.conn.execute(
        "update marketplace_members set name = E'B\\r\\nBcc: all@example.org' where id = %s", [market.buyer]
    )
    first = await market.asked()
    assert (first["Bcc"], first["From"].addresses[0].display_name) == (
        None,
        "B  Bcc: [address hidden] via Village Marketplace",
    )
    evil = answer(first, "sam@seller.example").as_bytes()
    plain = next(line for line in evil.splitlines() if line.startswith(b"Subject"))
    evil = evil.replace(plain, b"Subject: =?utf-8?q?a=0D=0ABcc:_all@example.org?=")
    market.imap.folder.add(evil)
    await market.poll()
    back = market.smtp.messages[-1]
    assert (back["Bcc"], back["Subject"]) == (None, "a Bcc: [address hidden]")
    assert market.smtp.recipients[-1] == ["Bea@Buyer.example"]


async def test_nobody_asks_about_what_is_not_for_sale_to_them(market: Market) -> None:
    """Sold, one's own, empty or endless."""
    for buyer, status, text in (
        (market.seller, "active", "x"),
        (market.buyer, "sold", "x"),
        (market.buyer, "active", " "),
    ):
        await market.site.conn.execute("update marketplace_listings set status = %s", [status])
        market.buyer = buyer
        with pytest.raises(InquiryRefused):
            await market.inquire(text)
    assert await market.site.rows("select id from mail_messages") == []
