"""The README's tables of requests, variables and files are those of the code."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from examples.homepage.settings import from_environment
from examples.homepage.statements import FOLDER
from examples.homepage.web import create_app

README = (FOLDER / "README.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")


def column(heading: str) -> list[str]:
    """What is set as code in the first cells of all tables that begin so."""
    found: list[str] = []
    for table in re.findall(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", README, re.MULTILINE):
        found += [name for line in table.splitlines() for name in CODE.findall(line.split("|")[1])]
    return found


def test_requests() -> None:
    app = create_app(from_environment({"HOMEPAGE_DATABASE_URL": "postgresql://"}))
    paths = app.openapi()["paths"]
    routes = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    told = column("request")
    assert sorted(told) == sorted(routes)


def test_variables() -> None:
    """Each of those that a part's settings name, once."""
    parts = [path for path in FOLDER.rglob("settings.py") if "tests" not in path.parts]
    names = [".".join(path.with_suffix("").relative_to(FOLDER.parents[1]).parts) for path in parts]
    read = [name for module in names for name in import_module(module).VARIABLES.values()]
    assert sorted(column("variable")) == sorted(read)


def test_files() -> None:
    """Every part of the application has a line, and what has one is there."""
    told = column("file")
    assert [name for name in told if not (FOLDER / name).exists()] == []
    parts = {f"{path.parent.name}/" for path in FOLDER.glob("*/__init__.py")} - {"tests/"}
    assert parts - set(told) == set()


def test_every_table_is_whole() -> None:
    """No line of a table stands by itself."""
    lines = Path(FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    alone = [
        line
        for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False)
        if line.startswith("|") and not before.startswith("|") and not after.startswith("|--")
    ]
    assert alone == []
