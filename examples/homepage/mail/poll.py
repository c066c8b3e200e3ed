"""Takes in what is new in the mailbox, one mail after the other."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from psycopg import AsyncConnection

from examples.homepage.mail.imap import Fetched, Mailbox
from examples.homepage.mail.incoming import Incoming, Unreadable, read
from examples.homepage.mail.receive import keep
from examples.homepage.mail.settings import MailSettings
from examples.homepage.statements import row, rows
from postmill import Context

MOST_TRIES = 3
"""So often a mail is begun; one that is begun once more has taken the worker down each time, and is kept apart unread."""


async def poll(
    ctx: Context, conn: AsyncConnection[Any], mailbox: Mailbox, settings: MailSettings
) -> dict[str, int]:
    """Up to a batch of mails, each with its place in the mailbox in one transaction; how many of which disposition.

    A worker that dies between two of them has taken in the one and not the other, and the next run goes on there.
    """
    place = {"name": mailbox.name, "uid_validity": mailbox.uid_validity}
    position = await row(conn, "mailbox_position", **place)
    assert position is not None
    found = Counter[str]()
    for uid in (await asyncio.to_thread(mailbox.after, position["last_uid"]))[: settings.batch]:
        ctx.checkpoint()
        fetched = await asyncio.to_thread(mailbox.fetch, uid)
        if fetched is None:
            continue  # somebody has deleted it
        tried = await row(conn, "mailbox_try", **place, uid=uid, job=ctx.job.id)
        hopeless = tried is None or tried["tries"] > MOST_TRIES
        mail = None if hopeless else await asyncio.to_thread(_read, fetched)
        disposition = await _take(conn, mailbox, uid, fetched, mail, settings)
        if disposition is not None:
            found[disposition] += 1
            ctx.log.info("mail_taken_in", uid=uid, disposition=disposition)
            await asyncio.to_thread(mailbox.seen, uid)
    await rows(conn, "forget_raw")
    return dict(found)


async def _take(
    conn: AsyncConnection[Any],
    mailbox: Mailbox,
    uid: int,
    fetched: Fetched,
    mail: Incoming | None,
    settings: MailSettings,
) -> str | None:
    async with conn.transaction():
        mine = await row(conn, "mailbox_take", name=mailbox.name, uid_validity=mailbox.uid_validity, uid=uid)
        if mine is None:
            return None  # another run was faster
        place = {"mailbox": mailbox.name, "uid_validity": mailbox.uid_validity, "uid": uid}
        return await keep(conn, place, fetched, mail, settings)


def _read(fetched: Fetched) -> Incoming | None:
    try:
        return read(fetched.raw)
    except Unreadable:
        return None
