"""The rest of the world: which stand-ins there are, and by which variables the application is told where each is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from examples.staging.children import Child

DOWN = [{"status": 503}] * 4
"""A server that is down for a while."""
BUSY = [{"status": 429, "retry_after": "3"}]
"""One that asks for time."""
SLOW = [{"delay": 3.0}] * 40
"""One that takes its time, so that there is always a job under way."""
BAD_DAYS = {"/changing/growing": DOWN, "/corpus/podcast.xml": BUSY, "/corpus/atom-1.0.xml": SLOW}
"""What feeds answer first, before they are well."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """A module of examples/upstreams that runs as a process of its own.

    Attributes:
        name: for people.
        module: below `examples.upstreams`; it says its address as its first line.
        variables: of the application, with `{url}` (or `{host}`, `{port}`) where the address goes.
        arguments: of the module.
    """

    name: str
    module: str
    variables: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


STAND_INS = (
    StandIn("feeds", "feeds", {"DEMO_FEEDS": "{url}"}, ("--days", json.dumps(BAD_DAYS))),
    StandIn(
        "PagerDuty, Slack",
        "alerts",
        {
            "PAGERDUTY_INTEGRATION_KEY": "demo",
            "SLACK_OPS_WEBHOOK": "{url}/services/T0/B0/demo",
            "POSTMILL_ESCALATION__CHANNELS__PAGERDUTY__KIND": "pagerduty",
            "POSTMILL_ESCALATION__CHANNELS__PAGERDUTY__KEY": "demo",
            "POSTMILL_ESCALATION__CHANNELS__PAGERDUTY__URL": "{url}/v2/enqueue",
        },
    ),
)


def stand_ins(stack: ExitStack, folder: Path, env: Mapping[str, str]) -> tuple[list[Child], dict[str, str]]:
    """All of them, started; and the variables that say where they are. Raises ChildFailed."""
    children = [
        stack.enter_context(
            Child(
                f"the stand-in for {one.name}",
                [f"examples.upstreams.{one.module}", *one.arguments],
                folder / f"{one.module}.log",
                env,
            )
        )
        for one in STAND_INS
    ]
    told: dict[str, str] = {}
    for one, child in zip(STAND_INS, children, strict=True):
        url = child.first_line()
        told |= {name: text.replace("{url}", url) for name, text in one.variables.items()}
    return children, told
