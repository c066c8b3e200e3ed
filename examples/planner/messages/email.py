"""E-mail by SMTP."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote, urlsplit

import aiosmtplib

from examples.planner.messages.message import Message, NotNow, Undeliverable
from examples.planner.settings import Settings

PORTS = {"smtp": 25, "smtps": 465}


async def send_email(settings: Settings, message: Message) -> str:
    """Sends it; its Message-ID.

    Raises:
        Undeliverable: the server refuses it for good.
        NotNow, aiosmtplib.SMTPException, OSError, TimeoutError: it may go another time.
    """
    place = urlsplit(settings.smtp_url.get_secret_value())
    mail = EmailMessage(policy=SMTP)
    # In one line: a header with more is refused, at each attempt.
    subject = " ".join(message.subject.split())
    mail["From"], mail["To"], mail["Subject"] = settings.mail_from, message.address, subject
    # Mailboxes show one of two mails with the same id.
    mail["Message-ID"] = reference = f"<{message.mark}@planner>"
    mail.set_content(message.text)
    try:
        await aiosmtplib.send(
            mail,
            hostname=place.hostname or "localhost",
            port=place.port or PORTS[place.scheme],
            username=unquote(place.username) if place.username else None,
            password=unquote(place.password) if place.password else None,
            use_tls=place.scheme == "smtps",
            timeout=settings.timeout,
        )
    except aiosmtplib.SMTPRecipientsRefused as refused:
        raise _judged([one.code for one in refused.recipients]) from None
    except aiosmtplib.SMTPResponseException as refused:
        raise _judged([refused.code]) from None
    return reference


def _judged(codes: list[int]) -> Exception:
    """By SMTP's own classes, which are the other way round than HTTP's: 5yz is for good, 4yz is not."""
    if codes and all(code >= 500 for code in codes):
        return Undeliverable(f"email: refused with {codes[0]}")
    return NotNow(f"email: answered {codes[0] if codes else 'nothing'}")
