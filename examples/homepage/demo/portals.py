"""The two portals: tenants of one Postmill, each with an admin's key, its own feeds, and schedules for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.job_types import JobType
from examples.staging.control import Control

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


@contextmanager
def portals(root: Control, url: str, conn: Connection[Any], feeds: str) -> Iterator[list[Portal]]:
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
            _feeds(made[-1], conn, feeds)
        yield made
    finally:
        for portal in made:
            portal.admin.close()
        for id in keys:
            root.delete(f"/keys/{id}")


def _feeds(portal: Portal, conn: Connection[Any], url: str) -> None:
    labels = {item["label"] for item in portal.admin.every("/jobs/triggers")}
    for source in rows(conn, "sources", portal=portal.slug, url=url):
        if source["name"] not in labels:
            schedule = {
                "label": source["name"],
                "trigger_type": "schedule",
                "every": EVERY,
                "definition_key": JobType.RSS_FEED_REFRESH.value,
                "payload_template": {"source_id": source["id"], "force_refresh": True},
            }
            portal.admin.post("/jobs/triggers", schedule)
