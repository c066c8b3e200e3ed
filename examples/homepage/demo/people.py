"""The people of a portal: they ask, answer, upload pictures and submit sites."""

from __future__ import annotations

import smtplib
from collections.abc import Mapping
from email.message import EmailMessage
from email.utils import make_msgid
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.demo.demand import DEMAND, Asking
from examples.homepage.demo.portals import Portal
from examples.homepage.job_types import JobType
from examples.homepage.mail.settings import MailSettings
from examples.homepage.previews.chain import preview
from postmill import NewJob

EVERY = {JobType.MESSAGE_RELAY: 1, JobType.IMAGE_PROCESSING: 8, JobType.SCREENSHOT_CAPTURE: 10}
"""Of how many requests one is of this type: what costs more is asked for less."""
ANSWERED = 2
"""One of so many questions."""


class People:
    """Of one portal. `told` is where stand-ins and folders are, by variable."""

    def __init__(self, conn: Connection[Any], portal: Portal, told: Mapping[str, str]) -> None:
        self._conn, self._portal, self._told = conn, portal, told
        self._number = 0
        self._answered: set[UUID] = set()

    def ask(self, missing: Mapping[str, str]) -> None:
        """The next request for each type whose turn it is; `missing` are types that cannot run here."""
        asking = Asking(self._conn, self._portal.slug, self._number, self._told)
        for kind, payload in DEMAND.items():
            if self._number % EVERY[kind] == 0 and kind.value not in missing:
                self._request(kind, payload(asking))
        if self._number % ANSWERED == 1:
            self._answer()
        self._number += 1

    def _request(self, kind: JobType, payload: dict[str, Any]) -> None:
        if kind == JobType.SCREENSHOT_CAPTURE:
            # As whoever submits a site where there is a CDN: see directory/web.py.
            self._portal.start(preview(UUID(payload["site_id"]), NewJob.of(kind, payload)))
        else:
            self._portal.enqueue(kind.value, payload)

    def _answer(self) -> None:
        """The seller answers the last one who has asked: a mail, which the marketplace will find in its mailbox."""
        for row in rows(self._conn, "unanswered", portal=self._portal.slug):
            if row["id"] not in self._answered:
                self._answered.add(row["id"])
                server = urlsplit(self._told["MAIL_SMTP_URL"])
                with smtplib.SMTP(server.hostname or "", server.port or 25, timeout=10) as smtp:
                    smtp.send_message(_mail(row))


def _mail(row: dict[str, Any]) -> EmailMessage:
    mail, domain = EmailMessage(), MailSettings().relay_domain
    mail["From"], mail["To"] = row["seller"], f"{row['mask']}@{domain}"
    mail["Subject"], mail["Message-ID"] = f"Re: {row['subject']}", make_msgid(domain="mail.example")
    mail["In-Reply-To"] = f"<{row['id']}@{domain}>"
    mail.set_content("Yes, it is.")
    return mail
