"""A clock to turn, the rest of the world, and who is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from examples.homepage.demo.stand_ins import stand_ins
from examples.homepage.statements import FOLDER
from examples.homepage.tests.labour import ENV
from examples.homepage.tests.site import Site
from examples.homepage.tests.week.scene import Scene
from examples.homepage.tests.week.turned_clock import TurnedClock, turned_clock
from examples.upstreams.alerts import judges
from examples.upstreams.alerts.mailbox import Mailbox
from examples.upstreams.alerts.service import AlertService, serve
from postmill.domain.settings import Settings
from postmill.domain.settings_load import load
from tests.support.databases import Database


@pytest.fixture
def clock(emptied: Database) -> Iterator[TurnedClock]:
    """The clock of the test's server."""
    with turned_clock(emptied.server, emptied.name) as made:
        yield made


@pytest.fixture
def mailbox() -> Iterator[tuple[Mailbox, str]]:
    """Where the mails to operators go, and its address."""
    made = Mailbox()
    yield made, made.start()
    made.stop()


@pytest.fixture
def world(tmp_path: Path, forked: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """The rest of the world, as the demo has it. Who is told of incidents is for `settings`."""
    with ExitStack() as stack:
        _, told = stand_ins(stack, tmp_path, {})
        for name, value in told.items():
            if not name.startswith("POSTMILL_"):
                monkeypatch.setenv(name, value)
        yield told


@pytest.fixture
def settings(mailbox: tuple[Mailbox, str]) -> Iterator[Settings]:
    """Those of homepage.yaml, with Slack, PagerDuty and the mail server at stand-ins."""
    slack, pager = AlertService(judges.slack), AlertService(judges.pagerduty)
    stop = serve(slack, pager)
    pagerduty = {"kind": "pagerduty", "key": "pd-key", "url": f"{pager.url}/v2/enqueue"}
    env = ENV | {"SLACK_OPS_WEBHOOK": f"{slack.url}/services/T0/B0/x"}
    more = {"escalation": {"smtp_url": mailbox[1], "channels": {"pagerduty": pagerduty}}}
    yield load(FOLDER / "homepage.yaml", env=env, overrides=more)
    stop()


@pytest.fixture
def scene(
    site: Site, clock: TurnedClock, world: dict[str, str], settings: Settings, mailbox: tuple[Mailbox, str]
) -> Scene:
    """All of it."""
    return Scene(site, clock, world, settings, mailbox[0])
