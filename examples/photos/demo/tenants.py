"""The tenants of the demo, made over the API: each with an admin's key, its triggers and a Dropbox."""

from __future__ import annotations

import secrets
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from uuid import UUID

from examples.photos import bodies
from examples.photos.pictures.draw import Picture, draw_picture
from examples.staging.control import Control

TENANTS = {
    "bcg": ("BCG harbour pictures", "America/New_York"),
    "lakeside": ("Lakeside archive", "Europe/Zurich"),
}


@dataclass(frozen=True)
class Account:
    """A Dropbox account of a tenant, and what it holds: at first, and later."""

    slug: str
    id: str
    token: str
    first: list[Picture]
    later: list[Picture]

    @property
    def truth(self) -> dict[str, frozenset[str]]:
        """The keywords of each picture by its name."""
        return {picture.name: frozenset(picture.keywords) for picture in (*self.first, *self.later)}


@dataclass(frozen=True)
class Tenant:
    """A tenant as its admin has it."""

    slug: str
    name: str
    id: UUID
    admin: Control
    account: Account


def accounts(pictures: int, new: int) -> list[Account]:
    """An account for each tenant, with pictures of its own."""
    made = []
    for seed, slug in enumerate(TENANTS, start=1):
        drawn = [draw_picture(number, seed) for number in range(pictures + new)]
        token = f"sl.u.{secrets.token_hex(40)}"
        made.append(
            Account(
                slug, f"dbid:{slug.upper()}-{secrets.token_hex(4)}", token, drawn[:pictures], drawn[pictures:]
            )
        )
    return made


def put_on_the_allow_list(root: Control) -> None:
    """The four commands, as a super admin; a second demo on the same data finds them there."""
    there = {item["key"]: item for item in root.every("/admin/jobs/definitions")}
    for body in bodies.definitions():
        found = there.get(body["key"]) or root.post("/admin/jobs/definitions", body)
        if body["key"] == "sync-dropbox":
            root.patch(f"/admin/jobs/definitions/{found['id']}", bodies.for_nightly_syncs(body))


def free(slug: str, there: Container[str]) -> str:
    """The slug, or with the first number behind it that nobody has."""
    names = (slug if number == 1 else f"{slug}-{number}" for number in count(1))
    return next(name for name in names if name not in there)


@contextmanager
def tenants(root: Control, url: str, dropboxes: list[Account]) -> Iterator[list[Tenant]]:
    """All tenants, made anew: what an earlier demo has brought is not new. Their keys are revoked at the end."""
    there = {item["slug"] for item in root.every("/tenants")}
    made, keys = [], []
    try:
        for account in dropboxes:
            name, timezone = TENANTS[account.slug]
            slug = free(account.slug, there)
            tenant = root.post("/tenants", {"slug": slug, "name": name, "timezone": timezone})
            key = root.post("/keys", {"name": "demo", "role": "tenant_admin", "tenant": slug})
            keys.append(key["id"])
            admin = Control(url, key["key"])
            made.append(Tenant(slug, name, UUID(tenant["id"]), admin, account))
            for body in bodies.triggers():
                admin.post("/jobs/triggers", body)
        yield made
    finally:
        for tenant in made:
            tenant.admin.close()
        for id in keys:
            root.delete(f"/keys/{id}")
