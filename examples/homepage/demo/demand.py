"""What people ask for: what runs on demand, and what it is that the next one asks."""

from __future__ import annotations

import smtplib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import make_msgid
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from PIL import Image
from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.demo.portals import Portal
from examples.homepage.job_types import JobType
from examples.homepage.mail.settings import MailSettings
from examples.homepage.previews.chain import preview
from postmill import NewJob


@dataclass
class Asking:
    """Who asks: people of one portal. `number` counts what was asked, from 0; `told` is where stand-ins and folders are, by
    variable."""

    conn: Connection[Any]
    portal: Portal
    told: Mapping[str, str]
    number: int = 0
    answered: set[UUID] = field(default_factory=set)

    def listing(self) -> str:
        """What the portal's seller sells."""
        [row] = rows(self.conn, "listing", portal=self.portal.slug)
        return str(row["id"])


def _message(asking: Asking) -> None:
    """A buyer asks about a listing."""
    of = {"portal": asking.portal.slug, "number": asking.number, "listing": asking.listing()}
    [row] = rows(asking.conn, "ask_message", **of)
    asking.portal.enqueue(JobType.MESSAGE_RELAY, {"message_id": row["id"]})


def _answer(asking: Asking) -> None:
    """The seller answers the last one who has asked: a mail, which the marketplace will find in its mailbox."""
    for row in rows(asking.conn, "unanswered", portal=asking.portal.slug):
        if row["id"] in asking.answered:
            return
        asking.answered.add(row["id"])
        mail, domain = EmailMessage(), MailSettings().relay_domain
        mail["From"], mail["To"] = row["seller"], f"{row['mask']}@{domain}"
        mail["Subject"], mail["Message-ID"] = f"Re: {row['subject']}", make_msgid(domain="mail.example")
        mail["In-Reply-To"] = f"<{row['id']}@{domain}>"
        mail.set_content("Yes, it is.")
        server = urlsplit(asking.told["MAIL_SMTP_URL"])
        with smtplib.SMTP(server.hostname or "", server.port or 25, timeout=10) as smtp:
            smtp.send_message(mail)


def _image(asking: Asking) -> None:
    """The seller adds a picture to the listing."""
    id, data = uuid4(), BytesIO()
    Image.linear_gradient("L").resize((1600, 1200)).convert("RGB").save(data, "JPEG")
    upload = Path(asking.told["IMAGE_FOLDER"]) / "uploads" / str(id)
    upload.parent.mkdir(parents=True, exist_ok=True)
    upload.write_bytes(data.getvalue())
    checksum = sha256(data.getvalue()).hexdigest()
    values = {"id": str(id), "bytes": len(data.getvalue()), "checksum": checksum}
    [row] = rows(asking.conn, "ask_image", listing=asking.listing(), **values)
    asking.portal.enqueue(JobType.IMAGE_PROCESSING, {"image_id": row["id"]})


def _site(asking: Asking) -> None:
    """A visitor submits a site, whose picture goes to the CDN."""
    slug, number = asking.portal.slug, asking.number
    url = f"{asking.told['DEMO_PAGES']}/good?{slug}={number}"
    title = f"{slug}: site {number}"
    [row] = rows(asking.conn, "ask_site", url=url, host=urlsplit(url).netloc, title=title)
    capture = NewJob.of(JobType.SCREENSHOT_CAPTURE, {"site_id": row["id"]})
    asking.portal.start(preview(UUID(row["id"]), capture))


DEMAND: Mapping[JobType, Callable[[Asking], None]] = {
    JobType.MESSAGE_RELAY: _message,
    JobType.INBOUND_EMAIL: _answer,
    JobType.IMAGE_PROCESSING: _image,
    JobType.SCREENSHOT_CAPTURE: _site,
}
"""What makes work for these types."""

EVERY = {
    JobType.MESSAGE_RELAY: 1,
    JobType.INBOUND_EMAIL: 2,
    JobType.IMAGE_PROCESSING: 5,
    JobType.SCREENSHOT_CAPTURE: 10,
}
"""Of how many requests one is of this kind: what costs more is asked for less."""
