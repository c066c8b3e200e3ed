"""Channels from the settings; each kind's library is imported when it is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import SecretStr

from postmill.alerts.channel import Channel
from postmill.alerts.wording import Wording
from postmill.domain.errors import SettingsError
from postmill.domain.settings import Settings
from postmill.domain.settings_escalation import ChannelSettings

JOB_PAGE = "/api/v1/jobs/{id}"


def wording_of(settings: Settings) -> Wording:
    """Texts with links to where the settings say that jobs are."""
    public = settings.server.public_url
    return Wording(settings.escalation.link or (None if public is None else public.rstrip("/") + JOB_PAGE))


def open_channel(name: str, settings: Settings) -> Channel:
    """One channel of the settings, ready to be used.

    Raises:
        SettingsError: what it needs is not there, or cannot be read.
    """
    channel = settings.escalation.all_channels[name]
    wording = wording_of(settings)
    with _needs(name, channel.kind):
        return _opened(name, channel, settings, wording)


def _opened(name: str, channel: ChannelSettings, settings: Settings, wording: Wording) -> Channel:
    url, key, timeout = _clear(channel.url), _clear(channel.key), channel.timeout
    match channel.kind:
        case "pagerduty":
            from postmill.alerts.pagerduty import PagerDuty

            return PagerDuty(name, key, wording, url=url or None, timeout=timeout)
        case "slack":
            from postmill.alerts.slack import Slack

            return Slack(name, url, wording, timeout=timeout)
        case "webhook":
            from postmill.alerts.webhook import Webhook

            return Webhook(name, url, key, wording, timeout=timeout)
        case "email":
            from postmill.alerts.mail import DEFAULT_SERVER, Mail

            server = _clear(settings.escalation.smtp_url) or DEFAULT_SERVER
            return Mail(name, channel.to, settings.escalation.mail_from, server, wording, timeout=timeout)
        case "apprise":
            from postmill.alerts.others import Others

            return Others(name, url, wording)


def _clear(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value()


@contextmanager
def _needs(name: str, kind: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as fault:
        raise SettingsError(
            f"channel {name!r} ({kind}) needs the library {fault.name}: pip install 'postmill[alerts]'"
        ) from None
