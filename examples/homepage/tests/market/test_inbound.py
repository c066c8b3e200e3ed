"""`INBOUND_EMAIL`: each mail once, whatever breaks in between; and what is not passed on."""

from __future__ import annotations

from email.message import EmailMessage
from uuid import uuid4

import pytest

from examples.homepage.mail.receive import MOST_IN_AN_HOUR
from examples.homepage.tests.market.market import Market, answer, written

SAM = "sam@seller.example"


async def test_a_line_that_breaks_takes_nothing_in_twice(market: Market) -> None:
    """The second of three mails breaks off in the middle: the next attempt goes on with it."""
    first = await market.asked()
    for text in ("one", "two", "three"):
        market.imap.folder.add(answer(first, SAM, text).as_bytes())
    market.imap.cut = "UID FETCH 2 (UID BODY"
    job = await market.poll(hurry=True)
    assert (job["attempt"], job["result"]) == (2, {"relayed": 2})
    assert sorted(map(written, market.smtp.messages[1:])) == ["one", "three", "two"]
    assert [mail.flags for mail in market.imap.folder.all()] == [{"\\Seen"}] * 3
    market.imap.commands.clear()
    assert (await market.poll())["result"] == {}
    assert not [command for command in market.imap.commands if command.startswith("UID FETCH")]


async def test_other_uids_and_the_same_mails(market: Market) -> None:
    """A restored mailbox has another UIDVALIDITY, under which everything is there again; a mail may also come twice."""
    first = await market.asked()
    for text in ("one", "two"):
        market.imap.folder.add(answer(first, SAM, text).as_bytes())
    assert (await market.poll())["result"] == {"relayed": 2}
    market.imap.folder.renumber()
    market.imap.folder.add(answer(first, SAM, "three").as_bytes())
    market.imap.folder.add(b"Received: by another way\r\n" + answer(first, SAM, "two").as_bytes())
    assert (await market.poll())["result"] == {"repeated": 3, "relayed": 1}
    assert len(market.smtp.messages) == 4
    anonymous = answer(first, SAM, "no id", Message_ID="", In_Reply_To="", References="").as_bytes()
    market.imap.folder.add(anonymous)
    market.imap.folder.add(anonymous)
    assert (await market.poll())["result"] == {"repeated": 1, "relayed": 1}
    assert market.smtp.messages[-1]["In-Reply-To"], "in the thread all the same"


async def test_who_is_let_in(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused login is tried again, and its message has no password; without a mailbox there is nothing to do."""
    market.imap.refusing = True
    job = await market.poll()
    assert (job["state"], job["error_class"].rpartition(".")[2]) == ("scheduled", "MailboxUnusable")
    assert "s3cret" not in str(job)
    market.imap.refusing = False
    await market.work(hurry=True)
    monkeypatch.delenv("MAIL_IMAP_URL")
    assert (await market.poll())["result"] == {}


async def test_what_is_not_for_the_relay_is_kept_apart(market: Market) -> None:
    """Unknown addresses and strangers with what they wrote, which is forgotten after 30 days; no answer to any."""
    first = await market.asked()
    for mail in (
        answer(first, SAM, "1", To="nobody@relay.example"),
        answer(first, SAM, "2", To="m0123@elsewhere.example"),
        answer(first, "mallory@evil.example", "3"),
        answer(first, f"{SAM}, mallory@evil.example", "4"),
    ):
        market.imap.folder.add(mail.as_bytes())
    await market.poll()
    assert await market.dispositions() == ["unknown_address"] * 2 + ["stranger"] * 2
    assert len(market.smtp.messages) == 1
    kept = "select count(*) as n from inbound_mail where raw is not null"
    assert await market.site.row(kept) == {"n": 4}
    await market.rest()
    await market.site.enqueue("INBOUND_EMAIL")
    await market.site.run("31 days")
    assert await market.site.row(kept) == {"n": 0}


async def test_machines_get_no_answer(market: Market) -> None:
    """Absence notes, lists, bounces, what we have sent ourselves: no mail follows from them."""
    first = await market.asked()
    found: list[tuple[dict[str, str], str]] = [
        ({"Auto_Submitted": "auto-replied (vacation)"}, "automatic"),
        ({"Precedence": "Bulk"}, "automatic"),
        ({"List_Id": "<talk.example>"}, "automatic"),
        ({"X_Village_Relay": "1"}, "automatic"),
        ({"Return_Path": "<>"}, "bounce"),
        ({"From": "Mail <MAILER-DAEMON@seller.example>"}, "bounce"),
        ({"Auto_Submitted": "no"}, "relayed"),
    ]
    for headers, disposition in found:
        market.imap.folder.add(answer(first, SAM, disposition, **headers).as_bytes())
    await market.poll()
    assert await market.dispositions() == [disposition for _, disposition in found]
    assert len(market.smtp.messages) == 2


async def test_two_machines_that_do_not_say_so(market: Market) -> None:
    """A conversation has a bound, after which nothing more is passed on for an hour."""
    first = await market.asked()
    await market.site.conn.execute(
        "insert into mail_messages (conversation_id, recipient_id, kind, subject, body, status) "
        "select conversation_id, recipient_id, kind, subject, body, 'sent' from mail_messages, generate_series(2, %s)",
        [MOST_IN_AN_HOUR - 1],
    )
    for text in ("one", "two"):
        market.imap.folder.add(answer(first, SAM, text).as_bytes())
    await market.poll()
    assert await market.dispositions() == ["relayed", "flood"]


async def test_a_bounce_is_told_to_who_wrote_once(market: Market) -> None:
    """Only one that says *failed*, of a message of this conversation."""
    first = await market.asked()
    for action, id in (
        ("delayed", first["Message-ID"]),
        ("failed", "<x@y.example>"),
        *[("failed", first["Message-ID"])] * 2,
    ):
        market.imap.folder.add(report(first, action, id))
    await market.poll()
    assert await market.dispositions() == ["bounce"] * 4
    [_, notice] = market.smtp.messages
    assert (notice["To"], notice["In-Reply-To"]) == ("Bea@Buyer.example", first["Message-ID"])
    assert b"seller.example" not in market.smtp.raw[-1]


async def test_too_large_mails(market: Market, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the header is read, and the sender is told; but no machine is."""
    monkeypatch.setenv("MAIL_MAX_BYTES", "5000")
    first = await market.asked()
    market.imap.folder.add(answer(first, SAM, "x" * 60 + "\n" + "large\n" * 1000).as_bytes())
    market.imap.folder.add(answer(first, SAM, "y\n" * 3000, Auto_Submitted="auto-replied").as_bytes())
    await market.poll()
    assert await market.dispositions() == ["too_large", "automatic"]
    assert [command for command in market.imap.commands if "BODY" in command] == [
        f"UID FETCH {uid} (UID BODY.PEEK[HEADER]<0.65536>)" for uid in (1, 2)
    ]
    [_, notice] = market.smtp.messages
    assert (notice["To"], "too large" in written(notice)) == (SAM, True)
    assert notice["In-Reply-To"] == first["Message-ID"]


def report(sent: EmailMessage, action: str, original: str) -> bytes:
    """A delivery report on a mail, each a little different."""
    return f"""\
From: MAILER-DAEMON@seller.example
To: {sent["From"].addresses[0].addr_spec}
Message-ID: <{uuid4()}@seller.example>
Content-Type: multipart/report; report-type=delivery-status; boundary=part

--part

{SAM}: it went wrong.
--part
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.seller.example

Final-Recipient: rfc822; {SAM}
Action: {action}

--part
Content-Type: text/rfc822-headers

Message-ID: {original}
To: {SAM}
--part--
""".encode()
