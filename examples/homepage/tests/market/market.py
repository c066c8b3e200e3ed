"""What the tests of the marketplace share."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from uuid import UUID

from examples.homepage.marketplace.inquiries import inquire
from examples.homepage.tests.labour import Labour, labouring
from examples.homepage.tests.site import Row, Site
from examples.upstreams.mail.imap import ImapServer
from examples.upstreams.mail.smtp import MailServer

RELAY = "@relay.example"


@dataclass
class Market:
    """A marketplace with a seller, a buyer and a listing."""

    site: Site
    imap: ImapServer
    smtp: MailServer
    seller: UUID = field(init=False)
    buyer: UUID = field(init=False)
    listing: UUID = field(init=False)
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _labour: Labour | None = None

    async def work(self, *, hurry: bool = False) -> None:
        """Let a worker do all that is due. It is the same one until `rest`, as starting one takes longer than its work."""
        if self._labour is None:
            self._labour = await self._stack.enter_async_context(labouring(self.site.dsn))
        await self._labour.idle(hurry=hurry)

    async def rest(self) -> None:
        """End the worker, so that one with another clock has its place."""
        self._labour = None
        await self._stack.aclose()

    async def member(self, name: str, email: str) -> UUID:
        """Somebody new."""
        query = "insert into marketplace_members (name, email) values (%s, %s) returning id"
        found: UUID = (await self.site.row(query, name, email))["id"]
        return found

    async def offer(self, title: str, ends: str, *, times: int = 1) -> UUID:
        """A listing of the seller's that ends so much from now; the last one of so many."""
        query = """
            insert into marketplace_listings (seller_id, title, expires_at)
            select %s, %s, postmill.now() + %s::interval from generate_series(1, %s) returning id
        """
        found: UUID = (await self.site.rows(query, self.seller, title, ends, times))[-1]["id"]
        return found

    async def inquire(self, text: str = "Is it still there?", subject: str = "Your bicycle") -> UUID:
        """The buyer asks."""
        async with self.site.conn.transaction():
            return await inquire(
                self.site.conn, listing_id=self.listing, buyer_id=self.buyer, subject=subject, text=text
            )

    async def asked(self, text: str = "Is it still there?") -> EmailMessage:
        """The buyer asks; the mail that the seller gets."""
        await self.inquire(text)
        await self.work()
        return self.smtp.messages[-1]

    async def message(self, id: UUID) -> Row:
        """The row of a message."""
        return await self.site.row("select * from mail_messages where id = %s", id)

    async def dispositions(self) -> list[str]:
        """What became of each mail that came in, in the order of their UIDs."""
        found = await self.site.rows("select disposition from inbound_mail order by uid_validity, uid")
        return [mail["disposition"] for mail in found]

    async def poll(self, *, hurry: bool = False) -> Row:
        """One run of the job, and what follows from it; the job."""
        job = await self.site.enqueue("INBOUND_EMAIL")
        await self.work(hurry=hurry)
        return await self.site.job(job)


def written(mail: EmailMessage) -> str:
    """The text of a mail."""
    return "\n".join(mail.get_content().splitlines())


def answer(mail: EmailMessage, sender: str, text: str = "Yes, it is.", **headers: str) -> EmailMessage:
    """What a mail program makes of *reply*; `headers` with `_` for `-`, an empty one is left out."""
    made = EmailMessage(policy=SMTP)
    values = {
        "From": sender,
        "To": str(mail["Reply-To"]),
        "Subject": f"Re: {mail['Subject']}",
        "Message-ID": f"<{abs(hash(text))}@mail.of.{sender.partition('@')[2]}>",
        "In-Reply-To": str(mail["Message-ID"]),
        "References": f"{mail['References'] or ''} {mail['Message-ID']}".strip(),
        "Return-Path": f"<{sender}>",
    } | {name.replace("_", "-"): value for name, value in headers.items()}
    for name, value in values.items():
        if value:
            made[name] = value
    made.set_content(text)
    return made
