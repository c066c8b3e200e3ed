"""The rest of the world: which stand-ins there are, and by which variables the application is told where each is."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.fernet import Fernet

from examples.homepage.demo.furniture import WARNED
from examples.homepage.mail.settings import MailSettings
from examples.staging.children import Child

DOWN = [{"status": 503}] * 3
"""A server that is down for a while."""
BUSY = [{"status": 429, "retry_after": "3"}]
"""One that asks for time."""
SLOW = [{"delay": 3.0}] * 40
"""One that takes its time, so that there is always a job under way."""
SHORT_LIVED = "240"
"""Seconds of an access token of the social network: so little that it has to be renewed at once."""
BAD_DAYS = {"/changing/growing": DOWN, "/corpus/podcast.xml": BUSY, "/corpus/atom-1.0.xml": SLOW}
"""What feeds answer first, before they are well."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A module of examples/upstreams that runs as a process of its own.

    Attributes:
        name: for people.
        module: below `examples.upstreams`; its first line is its address, and further lines are further ones.
        variables: of the application, with `{0}` where the address goes, `{1}` for a second one.
        arguments: of the module.
        stays: whether it takes the port of the last run on this data, for jobs that wait name its address.
    """

    name: str
    module: str
    variables: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    stays: bool = False


STAND_INS = (
    StandIn("feeds", "feeds", {"DEMO_FEEDS": "{0}"}, ("--days", json.dumps(BAD_DAYS))),
    StandIn(
        "PagerDuty, Slack",
        "alerts",
        {
            "PAGERDUTY_INTEGRATION_KEY": "demo",
            "SLACK_OPS_WEBHOOK": "{0}/services/T0/B0/demo",
            "POSTMILL_ESCALATION__CHANNELS__PAGERDUTY__KIND": "pagerduty",
            "POSTMILL_ESCALATION__CHANNELS__PAGERDUTY__KEY": "demo",
            "POSTMILL_ESCALATION__CHANNELS__PAGERDUTY__URL": "{0}/v2/enqueue",
        },
    ),
    StandIn(
        "mail",
        "mail",
        {"MAIL_SMTP_URL": "{0}", "POSTMILL_ESCALATION__SMTP_URL": "{0}", "MAIL_IMAP_URL": "{1}"},
        ("--domain", MailSettings().relay_domain),
    ),
    StandIn(
        "Anthropic",
        "anthropic",
        {"ANTHROPIC_BASE_URL": "{0}", "ANTHROPIC_API_KEY": "demo"},
        ("--key", "demo", "--script", "calm"),
    ),
    StandIn(
        "Alpha Vantage",
        "alphavantage",
        {
            "ALPHAVANTAGE_URL": "{0}",
            "ALPHAVANTAGE_API_KEY": "KEY-OF-THE-STAND-IN",
            "ALPHAVANTAGE_SPACING": "0",
        },
    ),
    StandIn(
        "weather",
        "nws",
        {"NWS_URL": "{0}", "OPEN_METEO_URL": "{0}"},
        tuple(f"--alert={point}" for point in WARNED),
    ),
    StandIn(
        "a social network",
        "social",
        {
            "SOCIAL_URL": "{0}",
            "SOCIAL_CLIENT_ID": "client-of-the-stand-in",
            "SOCIAL_CLIENT_SECRET": "secret-of-the-stand-in",
            # The stand-in's tokens are worth nothing once it has ended; nor need their key be.
            "SOCIAL_TOKEN_KEYS": Fernet.generate_key().decode(),
        },
        ("--lifetime", SHORT_LIVED),
    ),
    StandIn("pages", "wild_pages", {"DEMO_PAGES": "{0}"}, stays=True),
    StandIn(
        "a CDN",
        "cdn",
        {"CDN_STORAGE_URL": "{0}", "CDN_STORAGE_KEY": "demo"},
        ("--key", "demo", "--days", json.dumps([{"status": 503}])),
    ),
)
FOLDERS = {"IMAGE_FOLDER": "images", "SCREENSHOT_FOLDER": "screenshots", "SITEMAP_FOLDER": "sitemaps"}
"""Variables that name a folder, and where in the data folder that is."""


def present() -> list[StandIn]:
    """Those that are in this checkout."""
    return [one for one in STAND_INS if find_spec(f"examples.upstreams.{one.module}") is not None]


def stand_ins(stack: ExitStack, folder: Path, env: Mapping[str, str]) -> tuple[list[Child], dict[str, str]]:
    """All of them, started; and the variables that say where they are. Raises ChildFailed."""
    children = [
        stack.enter_context(
            Child(
                f"the stand-in for {one.name}",
                [f"examples.upstreams.{one.module}", *one.arguments, *_port(folder, one)],
                folder / f"{one.module}.log",
                env,
            )
        )
        for one in present()
    ]
    told = {name: str(folder / below) for name, below in FOLDERS.items()}
    for one, child in zip(present(), children, strict=True):
        addresses = [child.first_line()]
        if one.stays:
            _kept(folder, one).write_text(str(urlsplit(addresses[0]).port), encoding="utf-8")
        if any("{1}" in text for text in one.variables.values()):
            addresses.append(child.first_line())
        told |= {name: text.format(*addresses) for name, text in one.variables.items()}
    return children, told


def _kept(folder: Path, one: StandIn) -> Path:
    return folder / f"{one.module}.port"


def _port(folder: Path, one: StandIn) -> list[str]:
    """The option that names the port of the last run, if there was one and nobody has taken it since."""
    if not (one.stays and _kept(folder, one).exists()):
        return []
    port = _kept(folder, one).read_text(encoding="utf-8")
    with socket.socket() as asked:
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asked.bind(("127.0.0.1", int(port)))
        except (OSError, ValueError):
            return []
    return ["--port", port]
