"""What happens in the demo, act by act: whoever acts does so as in life, and events and jobs do the rest."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import httpx

from examples.photos.demo.options import Options
from examples.photos.demo.progress import Display, Standing, standing
from examples.photos.demo.stage import SHORT_LEASE, Stage
from examples.photos.demo.tenants import Tenant
from examples.photos.pictures.draw import Picture
from examples.photos.providers import connect_provider, create_list
from examples.photos.statements import run

NOT_LISTED = 5
"""Of so many pictures a person leaves one without a name: what the models say of it shows how good they are."""

QUIET = 3.0
"""Seconds without an open job after which nothing more comes by itself."""


class Unfinished(Exception):
    """An act did not come to its end in time."""


class Story:
    """The acts in their order."""

    def __init__(self, options: Options, stage: Stage, display: Display) -> None:
        self._options = options
        self._stage = stage
        self._display = display
        self._killed = not options.kill_worker

    def play(self) -> None:
        """All of it. Raises Unfinished."""
        tenants = self._stage.tenants
        self._display.act("Each tenant connects a Dropbox with pictures (provider.connection.changed)")
        for tenant in tenants:
            self._upload(tenant, tenant.account.first)
            connect_provider(
                self._stage.conn, tenant.id, tenant.account.id, tenant.account.token, key=self._stage.key
            )
        count = self._options.pictures
        self._until(lambda one: one.pictures == count and one.ingests > 0 and one.open == 0)

        self._display.act("Somebody names what is on most of them (list.created): keywords are learned")
        for tenant in tenants:
            self._name_pictures(tenant)
        self._until(lambda one: one.models > 0 and one.open == 0)

        self._display.act("The admins ask for tags by what was learned (POST /api/v1/jobs)")
        for tenant in tenants:
            tenant.admin.post("/jobs", _by_hand(tenant.slug))
        self._until(lambda one: one.recognized > count / 2 and one.open == 0)

        if self._options.new:
            self._display.act("New pictures: Dropbox calls the webhook (provider.folder.updated)")
            for tenant in tenants:
                self._upload(tenant, tenant.account.later)
            whole = count + self._options.new
            self._until(lambda one: one.pictures == whole and one.open == 0, or_quiet=True)

        self._display.act("The nightly sync, run by hand instead of at night")
        for tenant in tenants:
            tenant.admin.post(f"/jobs/triggers/{nightly(tenant)['id']}/run")
        self._until(lambda one: one.pictures == count + self._options.new and one.open == 0)

    def _until(self, reached: Callable[[Standing], bool], *, or_quiet: bool = False) -> None:
        deadline, quiet_since = time.monotonic() + self._options.patience, time.monotonic()
        while True:
            self._stage.check()
            standings = [standing(self._stage, tenant) for tenant in self._stage.tenants]
            self._display.show(standings)
            if all(map(reached, standings)):
                return
            now = time.monotonic()
            quiet_since = now if any(one.open for one in standings) else quiet_since
            if or_quiet and now - quiet_since > QUIET:
                return
            if now > deadline:
                raise Unfinished("; ".join(map(str, standings)))
            self._maybe_kill(standings)
            time.sleep(0.2)

    def _maybe_kill(self, standings: list[Standing]) -> None:
        """Once, as soon as a sync is under way: the worker that runs it."""
        if self._killed or not any(0 < one.pictures < self._options.pictures for one in standings):
            return
        for worker in self._stage.root.every("/workers"):
            victim = next((one for one in self._stage.workers if one.pid == worker["pid"]), None)
            if victim is not None and worker["running_count"] and worker["state"] == "running":
                victim.kill()
                self._killed = True
                self._display.note(
                    f"⚡ {victim.name} (process {victim.pid}) was killed in mid-sync; its lease ends within {SHORT_LEASE}"
                )
                return

    def _upload(self, tenant: Tenant, pictures: list[Picture]) -> None:
        """As the owner's telephone does."""
        headers = {"Authorization": f"Bearer {tenant.account.token}"}
        with httpx.Client(headers=headers, timeout=30.0) as http:
            for picture in pictures:
                argument = json.dumps({"path": f"/{picture.name}", "mode": "overwrite"})
                http.post(
                    f"{self._stage.dropbox}/2/files/upload",
                    content=picture.jpeg,
                    headers={"Dropbox-API-Arg": argument, "Content-Type": "application/octet-stream"},
                ).raise_for_status()

    def _name_pictures(self, tenant: Tenant) -> None:
        truth = tenant.account.truth
        rows = run(self._stage.conn, "tagged_pictures", tenant_id=tenant.id).fetchall()
        named = {
            row[0]: sorted(truth[row[1]])
            for number, row in enumerate(rows)
            if number % NOT_LISTED != NOT_LISTED - 1
        }
        create_list(self._stage.conn, tenant.id, "what is on them", named)


def _by_hand(slug: str) -> dict[str, object]:
    """The contract's own example of a manual enqueue."""
    return {
        "definition_key": "recompute-trained-tags",
        "payload": {"model": "siglip"},
        "priority": 100,
        "scheduled_for": "2026-02-16T10:30:00Z",
        "dedupe_key": f"tenant:{slug}:training:daily",
    }


def nightly(tenant: Tenant) -> dict[str, object]:
    """The tenant's nightly schedule."""
    triggers = tenant.admin.every("/jobs/triggers", trigger_type="schedule")
    return next(one for one in triggers if one["label"] == "Nightly provider sync")
