"""The how-to for teams with an existing outbox, block by block: each phase forward, back, and forward again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from tests.support.databases import Database
from tests.support.eventually import eventually
from tests.support.invariants import invariants
from tests.support.spawner import ROOT, Spawned, spawner

PAGE = ROOT / "docs" / "how-to" / "adopt-with-an-existing-outbox.md"
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]*)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


NEW_PRODUCER = """
import os, psycopg
from create_item import create_item
with psycopg.connect(os.environ["POSTMILL_DATABASE_URL"]) as conn:
    create_item(conn, "Written by the new producer. It is short.")
"""


@dataclass
class Section:
    """The blocks of a phase: (language, title, text), and those that undo it."""

    forward: list[tuple[str, str, str]] = field(default_factory=list)
    back: list[tuple[str, str, str]] = field(default_factory=list)


def sections() -> dict[str, Section]:
    """The page's parts by their heading, up to the colon."""
    made = {}
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        section = made[part.splitlines()[0].partition(":")[0]] = Section()
        for language, title, text in BLOCK.findall(part):
            (section.back if title == "roll back" else section.forward).append((language, title, text))
    return made


class Team:
    """Somebody who does what the page says, in a folder of their own."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        self.folder = folder
        self.worker: Spawned | None = None
        self.env = {"POSTMILL_DATABASE_URL": database.dsn, "PYTHONPATH": str(folder)}

    def follow(self, blocks: list[tuple[str, str, str]]) -> None:
        for language, title, text in blocks:
            if language in ("python", "toml"):
                (self.folder / title).write_text(text)
            elif language == "sql":
                with psycopg.connect(self.database.dsn, autocommit=True) as conn:
                    conn.execute(text.encode())
            elif language == "console":
                for line in text.splitlines():
                    self.command(line.removeprefix("$ "))

    def command(self, line: str) -> None:
        words = line.split()
        variables = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
        assert words[0] == "postmill", line
        if words[1] == "worker":
            self.stop()
        process = spawner().start(words, self.folder, {**os.environ, **self.env, **variables})
        if words[1] == "worker":
            self.worker = process
            return
        try:
            assert process.wait() == 0, f"{line}\n{process.output}"
        finally:
            process.close()

    def stop(self) -> None:
        """SIGTERM, as the page says."""
        if self.worker is not None:
            worker, self.worker = self.worker, None
            try:
                assert worker.poll() is None, worker.output
                worker.signal(signal.SIGTERM)
                assert worker.wait() == 0, worker.output
            finally:
                worker.close()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.database.dsn, autocommit=True) as conn:
            return conn.execute(query.encode()).fetchall()

    def old_worker(self) -> int:
        """What the old worker does in one round: everything that is PENDING. Returns how much that was."""
        with psycopg.connect(self.database.dsn, autocommit=True) as conn:
            return conn.execute(
                "with mine as (update enrichment_outbox set status = 'DONE' where id in"
                " (select id from enrichment_outbox where status = 'PENDING' for update skip locked)"
                " returning item_id)"
                " update items set status = 'READY_TO_CONFIRM', title = 'by the old worker'"
                " from mine where items.id = mine.item_id"
            ).rowcount


@pytest.fixture
def team(empty_database: Database, tmp_path: Path) -> Iterator[Team]:
    made = Team(empty_database, tmp_path)
    try:
        yield made
    finally:
        made.stop()


def test_the_page_has_six_phases_and_four_ways_back() -> None:
    parts = sections()
    phases = [name for name in parts if name.startswith("Phase")]
    assert phases == [f"Phase {number}" for number in range(6)]
    assert [name for name in phases if parts[name].back] == phases[:4]


@pytest.mark.timeout(400)  # some thirty commands and workers, one after another
def test_it_can_be_followed_forward_and_back(team: Team) -> None:
    page = sections()
    [tables, producer] = page["The starting point"].forward

    def produce(count: int = 1) -> None:
        for _ in range(count):
            team.follow([producer])

    def waiting() -> int:
        return len(team.rows("select from items where status = 'ENRICHING'"))

    def settled() -> bool:
        return waiting() == 0

    team.follow([tables])
    produce(2)
    assert team.old_worker() == 2

    phase = page["Phase 0"]
    team.follow(phase.forward)
    team.follow(phase.back)
    assert team.rows("select from pg_namespace where nspname = 'postmill'") == []
    produce()
    assert team.old_worker() == 1, "nothing of the team's own was touched"
    team.follow(phase.forward)

    phase = page["Phase 1"]
    produce(3)
    team.follow(phase.forward)
    eventually(settled, 20.0)
    produce(2)
    eventually(settled, 20.0, "the poll's finding what came later")
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="cannot update view"):
        team.old_worker()
    team.stop()
    produce(4)
    assert waiting() == 4
    assert team.rows("select from enrichment_outbox where status = 'PENDING'") == [()] * 4
    team.follow(phase.back)
    assert team.rows("select from postmill.jobs where status in ('queued', 'running')") == []
    assert team.old_worker() == 4
    produce(2)
    team.follow(phase.forward)
    eventually(settled, 20.0)

    for name in ("Phase 2", "Phase 3"):
        for blocks in (page[name].forward, page[name].back, page[name].forward):
            team.follow(blocks)
            produce(2)
            eventually(settled, 20.0)

    team.follow(page["Phase 4"].forward)
    lost = re.findall(r"^```sql\n(select i.id .*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert team.rows(lost[0]) == []

    team.stop()
    team.follow(page["Phase 5"].forward)
    (team.folder / "new_producer.py").write_text(NEW_PRODUCER)
    subprocess.run(
        [sys.executable, "new_producer.py"], cwd=team.folder, env={**os.environ, **team.env}, check=True
    )
    team.command("postmill worker jobs.py")
    eventually(settled, 20.0)
    team.stop()

    titles = {title for (title,) in team.rows("select distinct title from items")}
    assert titles == {
        "by the old worker",
        "A post mill turns its whole body into the wind",
        "Written by the new producer",
    }
    done = len(team.rows("select from enrichment_outbox where status = 'DONE'"))
    assert done == len(team.rows("select from items where title <> 'by the old worker'"))
    with team.database.connect() as conn:
        invariants(conn, lease_seconds=300.0)


def test_the_switch_needs_the_job_type(team: Team) -> None:
    """Who skips the registration of phase 0 is told so by the switch, and nothing has happened."""
    page = sections()
    team.follow(page["The starting point"].forward)
    team.command("postmill migrate")
    with pytest.raises(psycopg.Error, match="unknown job type"):
        team.follow([block for block in page["Phase 1"].forward if block[0] == "sql"])
    assert team.old_worker() == 1
