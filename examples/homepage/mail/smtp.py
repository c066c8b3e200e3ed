"""Sends a mail. What comes of it is one of three: it was taken, it never will be, or (an exception) it may be next time."""

from __future__ import annotations

from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

import aiosmtplib

from examples.homepage.mail.settings import MailSettings

_PORTS = {"smtp": 587, "smtps": 465}


class MailRefused(Exception):
    """The mail will not be taken, however often it is sent. The message is the server's answer, which may name addresses."""


async def send(mail: EmailMessage, sender: str, recipient: str, settings: MailSettings) -> None:
    """Give a mail to the server of the settings; when this returns, the server has it.

    Raises MailRefused where the server refuses this mail or its recipient for good (5xx). All else is worth another attempt:
    4xx, no connection, no answer in time, and a refused login, for which the mail is not to blame.
    """
    parts = urlsplit(settings.smtp_url.get_secret_value())
    user = unquote(parts.username) if parts.username else None
    try:
        await aiosmtplib.send(
            mail.as_bytes(),
            sender=sender,
            recipients=[recipient],
            hostname=parts.hostname,
            port=parts.port or _PORTS[parts.scheme],
            username=user,
            password=unquote(parts.password or "") if user else None,
            use_tls=parts.scheme == "smtps",
            # A password goes over TLS or not at all; without one TLS is taken where it is offered.
            start_tls=True if user and parts.scheme == "smtp" else None,
            timeout=settings.timeout,
        )
    except aiosmtplib.SMTPRecipientsRefused as refused:
        [fault, *_] = refused.recipients
        raise (MailRefused(_answer(fault)) if fault.code >= 500 else fault) from None
    except (aiosmtplib.SMTPSenderRefused, aiosmtplib.SMTPDataError) as fault:
        if fault.code < 500:
            raise
        raise MailRefused(_answer(fault)) from None


def _answer(fault: aiosmtplib.SMTPResponseException) -> str:
    return f"{fault.code} {fault.message}"
