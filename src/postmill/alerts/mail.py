"""E-mail by SMTP: one message for each notice, or a digest of many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import ClassVar
from urllib.parse import unquote, urlsplit

import aiosmtplib

from postmill.alerts.channel import Undelivered
from postmill.alerts.wording import Wording
from postmill.domain.errors import SettingsError
from postmill.store.notifications import Notice

DEFAULT_SERVER = "smtp://localhost:25"
_PORTS = {"smtp": 587, "smtps": 465}


class Mail:
    """Messages to some addresses. A new connection each time: they are few."""

    sums_up: ClassVar[bool] = True

    def __init__(
        self, name: str, to: Sequence[str], sender: str, server: str, wording: Wording, *, timeout: float
    ) -> None:
        self._name = name
        self._to = to
        self._sender = sender
        self._wording = wording
        self._timeout = timeout
        parts = urlsplit(server)
        if parts.scheme not in _PORTS or not parts.hostname:
            raise SettingsError("escalation.smtp_url: expected smtp://USER:PASSWORD@HOST:587, or smtps://…")
        self._host, self._port = parts.hostname, parts.port or _PORTS[parts.scheme]
        self._tls = parts.scheme == "smtps"
        self._user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None

    async def send(self, notices: Sequence[Notice]) -> None:
        """One message."""
        try:
            await aiosmtplib.send(
                self.message(notices),
                hostname=self._host,
                port=self._port,
                use_tls=self._tls,
                username=self._user,
                password=self._password,
                timeout=self._timeout,
            )
        except aiosmtplib.SMTPResponseException as fault:
            told = f"{self._name}: the mail server answered {fault.code}"
            # What is said to the message itself; a refused login or greeting is the channel's.
            of_message = isinstance(fault, aiosmtplib.SMTPDataError) and fault.code >= 500
            raise Undelivered(told, again=fault.code < 500, of_message=of_message) from None
        except aiosmtplib.SMTPRecipientsRefused as fault:
            again = all(one.code < 500 for one in fault.recipients)
            raise Undelivered(f"{self._name}: the mail server refused every address", again=again) from None
        except (aiosmtplib.SMTPException, OSError) as fault:
            raise Undelivered(f"{self._name}: no mail server ({type(fault).__name__})") from None

    def message(self, notices: Sequence[Notice]) -> EmailMessage:
        """What is sent: all messages of one incident are one thread."""
        made = EmailMessage()
        first = notices[0]
        alone = len(notices) == 1
        subject = self._wording.subject(first) if alone else f"Postmill: {len(notices)} notifications"
        made["Subject"] = " ".join(subject.split())[:200]
        made["From"] = self._sender
        made["To"] = ", ".join(self._to)
        made["Date"] = format_datetime(datetime.now(UTC))
        made["Message-ID"] = f"<{first.id}@postmill>"
        if alone:
            made["References"] = f"<{first.incident_id}@postmill>"
        made["Auto-Submitted"] = "auto-generated"  # RFC 3834: no vacation notice shall come back
        parts = [self._wording.body(notice) for notice in notices]
        made.set_content(parts[0] if alone else "\n\n".join([self._wording.summary(notices), *parts]))
        return made

    async def close(self) -> None:
        """Nothing is open."""
