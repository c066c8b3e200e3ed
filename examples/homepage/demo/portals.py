"""The two portals: tenants of one Postmill, each with an admin's key, its own feeds, and schedules for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from json import loads
from typing import Any

from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.job_types import JobType
from examples.homepage.statements import Row
from examples.staging.control import Control
from postmill import Workflow

PORTALS = {
    "village": ("Village portal", "America/New_York"),
    "harbour": ("Harbour portal", "Europe/Amsterdam"),
}
EVERY = 15
"""Seconds between two refreshes of a portal's feed: more often than in life, where it is 15 minutes at least."""


@dataclass(frozen=True)
class Portal:
    """One of them, as its admin has it."""

    slug: str
    admin: Control

    def enqueue(self, job_type: str, payload: dict[str, object]) -> None:
        """A job of this portal's."""
        self.admin.post("/jobs", {"definition_key": job_type, "payload": payload})

    def start(self, flow: Workflow) -> None:
        """A workflow of this portal's."""
        steps = [
            {
                "name": step.name,
                "definition_key": step.job.job_type,
                "payload": loads(step.job.payload),
                "after": [{"step": parent} for parent in step.after],
                "compensate": step.compensate and {
                    "definition_key": step.compensate.job_type, "payload": loads(step.compensate.payload)
                },
            }
            for step in flow.steps
        ]  # fmt: skip
        self.admin.post("/workflows", {"name": flow.name, "key": flow.key, "steps": steps})


def sources(conn: Connection[Any], url: str) -> dict[str, list[Row]]:
    """The feeds of each portal, at the stand-in's address."""
    return {slug: rows(conn, "sources", portal=slug, url=url) for slug in PORTALS}


@contextmanager
def portals(root: Control, url: str, feeds: Mapping[str, Sequence[Row]]) -> Iterator[list[Portal]]:
    """Both of them; a second start finds what the first has made. Their keys are revoked at the end."""
    there = {item["slug"] for item in root.every("/tenants")}
    made, keys = [], []
    try:
        for slug, (name, timezone) in PORTALS.items():
            if slug not in there:
                root.post("/tenants", {"slug": slug, "name": name, "timezone": timezone})
            key = root.post("/keys", {"name": "demo", "role": "tenant_admin", "tenant": slug})
            keys.append(key["id"])
            made.append(Portal(slug, Control(url, key["key"])))
            _schedule(made[-1], feeds[slug])
        yield made
    finally:
        for portal in made:
            portal.admin.close()
        for id in keys:
            root.delete(f"/keys/{id}")


def _schedule(portal: Portal, feeds: Sequence[Row]) -> None:
    labels = {item["label"] for item in portal.admin.every("/jobs/triggers")}
    for source in feeds:
        if source["name"] not in labels:
            schedule = {
                "label": source["name"],
                "trigger_type": "schedule",
                "every": EVERY,
                "definition_key": JobType.RSS_FEED_REFRESH.value,
                "payload_template": {"source_id": source["id"], "force_refresh": True},
            }
            portal.admin.post("/jobs/triggers", schedule)
