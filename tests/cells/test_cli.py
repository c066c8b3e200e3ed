"""Cells on the command line: what is said of them, a tenant in each, one command of workers for both, and a move."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cells.conftest import Two, enqueue
from tests.cells.jobs import NOTED
from tests.cli.processes import running
from tests.cli.support import Answer, cli
from tests.support.eventually import eventually

JOBS = Path(__file__).with_name("jobs.py")


@pytest.fixture
def config(two: Two, tmp_path: Path) -> Path:
    """A settings file with both cells."""
    file = tmp_path / "postmill.toml"
    lines = []
    for name, cell in two.cells.items():
        lines += [f"[cells.{name}]", f"database_url = {json.dumps(cell.dsn)}"]
        lines += ["directory = true"] if cell.directory else []
    file.write_text("\n".join(lines))
    return file


def test_tenants_in_two_cells(two: Two, config: Path) -> None:
    def ask(*words: str) -> Answer:
        return cli("--config", str(config), *words)

    assert [(row["name"], row["directory"], row["error"]) for row in ask("cells", "list", "--json").json] == [
        ("a", True, None),
        ("b", False, None),
    ]
    made = ask("tenants", "create", "florist", "--cell", "b", "--json")
    assert made.code == 0, made.err
    again = ask("tenants", "create", "florist", "--json")
    assert (again.code, "directory of cells" in again.err) == (1, True)
    assert [(row["slug"], row["cell"]) for row in ask("cells", "tenants", "--json").json] == [
        ("florist", "b")
    ]
    looked = ask("tenants", "move", "acme", "--to", "b", "--preview", "--json")
    assert (looked.code, looked.json["blockers"]) == (0, [])
    for words, said in (
        (("tenants", "move", "acme", "--to", "c"), "no cell 'c'"),
        (("tenants", "move", "acme", "--to", "a"), "lives in cell 'a' already"),
        (("tenants", "move", "nobody", "--to", "b"), "no tenant 'nobody'"),
        (("worker", str(JOBS), "--cells", "a,c"), "no cell 'c'"),
        (("worker", str(JOBS), "--cells", "a,b", "--queues", "default=1"), "cannot share"),
        (("tenants", "list", "--cell", "b", "--dsn", "postgresql:///x"), "exclude each other"),
    ):
        refused = ask(*words)
        assert refused.code != 0, words
        assert said in refused.err, (words, refused.err)
    job = str(enqueue(two.a, two.acme))
    assert ask("tenants", "move", "acme", "--to", "b").code == 0
    for words in (
        ("enqueue", "work", "--tenant", "acme"),
        ("enqueue", "work", "--tenant", str(two.acme)),
        ("jobs", "list", "--tenant", "acme"),
    ):
        refused = ask(*words)
        assert refused.code == 5
        assert "there is no tenant" in refused.err
        assert "tenant acme lives in cell b, this is a: the same with --cell b" in refused.err
    for words in (("jobs", "show", job), ("jobs", "show", job[:18]), ("jobs", "cancel", job)):
        refused = ask(*words)
        assert refused.code == 5
        assert f"job {job} is in cell b, this is a: the same with --cell b" in refused.err, refused.err
        assert ask(*words, "--cell", "b").code == 0


@pytest.mark.long
def test_one_command_of_workers_serves_both_cells(two: Two, config: Path, tmp_path: Path) -> None:
    for conn in (two.a, two.b):
        conn.execute(NOTED)
    words = ["--config", str(config), "worker", str(JOBS), "--cells", "a,b", "--queues", "default=3"]
    with running(tmp_path, *words) as workers:
        workers.says("2 processes share default=3 in cells a, b")
        for conn in (two.a, two.b):
            eventually(
                lambda conn=conn: conn.execute(
                    "select slots from postmill.worker where slots <> '{}'"
                ).fetchone(),
                30,
                "a worker",
            )
        slots = [
            row[0]["default"]
            for conn in (two.a, two.b)
            for row in conn.execute("select slots from postmill.worker where slots <> '{}'")
        ]
        assert sorted(slots) == [1, 2]
        two.a.execute("select postmill.enqueue('work', '{}', %s)", [two.acme])
        two.b.execute("select postmill.enqueue('work', '{}', %s)", [two.other])
        for conn in (two.a, two.b):
            eventually(
                lambda conn=conn: conn.execute("select count(*) from public.ran").fetchone() == (1,),
                30,
                "a run",
            )
