"""Sends a mail. What comes of it is one of three: it was taken, it never will be, or (an exception) it may be next time."""

from __future__ import annotations

from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

import aiosmtplib

from examples.homepage.mail.settings import MailSettings

_PORTS = {"smtp": 587, "smtps": 465}
_OF_THE_MAIL = (aiosmtplib.SMTPRecipientRefused, aiosmtplib.SMTPSenderRefused, aiosmtplib.SMTPDataError)


class MailRefused(Exception):
    """The mail will not be taken, however often it is sent. The message is the server's answer, which may name addresses."""


class MailDeferred(Exception):
    """The server does not take the mail now."""


async def send(mail: EmailMessage, sender: str, recipient: str, settings: MailSettings) -> None:
    """Give a mail to the server of the settings; when this returns, the server has it.

    Raises MailRefused where the server refuses this mail or its recipient for good (5xx). All else is worth another attempt:
    MailDeferred for 4xx, and for a refused login or greeting, for which the mail is not to blame; OSError and SMTPException
    without a connection, or an answer in time.
    """
    parts = urlsplit(settings.smtp_url.get_secret_value())
    user = unquote(parts.username) if parts.username else None
    try:
        async with aiosmtplib.SMTP(
            hostname=parts.hostname,
            port=parts.port or _PORTS[parts.scheme],
            username=user,
            password=unquote(parts.password or "") if user else None,
            use_tls=parts.scheme == "smtps",
            # A password goes over TLS or not at all; without one TLS is taken where it is offered.
            start_tls=True if user and parts.scheme == "smtp" else None,
            timeout=settings.timeout,
        ) as server:
            await server.sendmail(sender, [recipient], mail.as_bytes())
    except aiosmtplib.SMTPRecipientsRefused as refused:
        raise _meant(refused.recipients[0]) from None
    except UnicodeEncodeError:
        raise MailRefused("an address that is no ASCII") from None
    except aiosmtplib.SMTPResponseException as fault:
        raise _meant(fault) from None


def _meant(fault: aiosmtplib.SMTPResponseException) -> Exception:
    answer = f"{fault.code} {fault.message}"
    if fault.code >= 500 and isinstance(fault, _OF_THE_MAIL):
        return MailRefused(answer)
    # Not as it came: its code would be taken for one of HTTP, where 4xx is for good.
    return MailDeferred(answer)
