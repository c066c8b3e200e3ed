"""What the environment says of mail."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from examples.homepage.environment import read

VARIABLES = {
    "smtp_url": "MAIL_SMTP_URL",
    "imap_url": "MAIL_IMAP_URL",
    "relay_domain": "MAIL_RELAY_DOMAIN",
    "sender": "MAIL_FROM",
    "timeout": "MAIL_TIMEOUT",
    "most_bytes": "MAIL_MAX_BYTES",
    "batch": "MAIL_BATCH",
}


def _of(*schemes: str) -> AfterValidator:
    def check(url: SecretStr) -> SecretStr:
        parts = urlsplit(url.get_secret_value())
        if parts.scheme not in schemes or not parts.hostname:
            raise ValueError(f"expected {schemes[0]}://USER:PASSWORD@HOST:PORT")
        return url

    return AfterValidator(check)


class MailSettings(BaseModel):
    """Of one process."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    smtp_url: Annotated[SecretStr, _of("smtp", "smtps")] = SecretStr("smtp://localhost:25")
    """`smtps` is TLS from the start (465); `smtp` (587) takes STARTTLS where it is offered, and needs it for a password."""
    imap_url: Annotated[SecretStr, _of("imaps", "imap")] | None = None
    """The mailbox that gets all mail for the relay's domain, with its folder as path (INBOX). None: no mail is read."""
    relay_domain: str = "relay.homepage.villagecompute.com"
    """The domain of masked addresses."""
    sender: str = "marketplace@homepage.villagecompute.com"
    """From which address the marketplace itself writes."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds that a mail server may take for each answer."""
    most_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    """Most bytes of a mail that is read; of a larger one only the header is."""
    batch: int = Field(default=50, ge=1)
    """Most mails that one run takes in; the next run, a minute later, goes on."""


def mail_settings(env: Mapping[str, str] = os.environ) -> MailSettings:
    """The settings of this process. Raises SettingsMissing."""
    return read(MailSettings, VARIABLES, env)
