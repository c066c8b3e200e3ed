"""Files keep to the measure of the house, and nothing in them belongs to one machine."""

from __future__ import annotations

import re
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "examples", "benchmarks", "deploy", "docs", "changelog.d", "bin", ".ci")
MADE = {"__pycache__", "node_modules"}
MEASURED = {".py", ".sql", ".js", ".mjs", ".css", ".html", ".sh"}
GENERATED = {"src/postmill/sql/schema.sql"}


def files() -> Iterator[Path]:
    """All files of the tree that people write."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and not MADE & set(path.parts):
                yield path


def lines_of(path: Path) -> int:
    return len(path.read_bytes().splitlines())


def measured() -> dict[str, int]:
    """Lines of each source file."""
    named = {str(path.relative_to(ROOT)): path for path in files() if path.suffix in MEASURED}
    return {name: lines_of(path) for name, path in named.items() if name not in GENERATED}


def test_no_file_is_longer_than_400_lines() -> None:
    assert {name: lines for name, lines in measured().items() if lines > 400} == {}


@pytest.mark.parametrize("folder", ["src", "tests", "examples"])
def test_the_median_file_is_shorter_than_100_lines(folder: str) -> None:
    lines = [lines for name, lines in measured().items() if name.startswith(f"{folder}/")]
    assert statistics.median(lines) < 100


def test_migrations_are_marked_in_their_first_line() -> None:
    for path in sorted((ROOT / "src/postmill/sql/migrations").glob("*")):
        assert re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", path.name)
        assert path.read_text().splitlines()[0] in ("-- postmill: safe", "-- postmill: breaking"), path.name


# Places of one machine, and addresses of package registries. The brackets keep this file out of the catch.
FORBIDDEN = {
    "a folder of one machine": r"[/](?:home|Users)/\w+/|[/]root/\w|[/]work/\w|[/]tmp/pm\b",
    "the host of a registry": r"registry[.]npmjs|pypi[.]org|pythonhosted[.]org|deb[.]debian[.]org",
    "an index or a proxy": r"--(?:extra-)?index[-]url|--find[-]links|npm_config[_]registry",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_nothing_names_a_machine_or_a_registry(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = {}
    for path in files():
        text = path.read_text(encoding="utf-8", errors="replace")
        if hit := pattern.search(text):
            found[str(path.relative_to(ROOT))] = hit.group()
    assert found == {}


PIN = r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+(; python_version (<|>=) \"3\.\d+\")?"
"""One version, or one for older Pythons and one for newer: Django 6 needs 3.12."""


def test_constraints_pin_every_version_and_name_no_host() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert pins
    assert [line for line in pins if not re.fullmatch(PIN, line)] == []


def test_scripts_can_be_run() -> None:
    for path in [ROOT / ".ci/run", *(ROOT / "bin").iterdir()]:
        assert path.stat().st_mode & 0o100, path
        assert subprocess.run(["bash", "-n", path]).returncode == 0, path
