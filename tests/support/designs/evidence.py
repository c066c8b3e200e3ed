"""What a row of an example's table points at: files, names in them, test functions."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.designs.tables import EXAMPLES, ROOT, Line, spans

_FILE = re.compile(r"[\w./-]+(?:/|\.(?:py|sql|toml|yaml|md|json|svg))")
_FROM_THE_ROOT = ("docs/", "tests/", "src/", "examples/")


def is_file(span: str) -> bool:
    """Whether it is written as a file or a folder is."""
    return _FILE.fullmatch(span) is not None and not span.startswith("/")


def place(example: str, span: str) -> Path:
    """Where the file is that a README names: in the example, among its tests, or from the root."""
    if span.startswith(_FROM_THE_ROOT) and not (EXAMPLES / example / span).exists():
        return ROOT / span
    if re.fullmatch(r"(\w+/)?(test_\w+\.py)?", span) and (EXAMPLES / example / "tests" / span).exists():
        return EXAMPLES / example / "tests" / span
    return EXAMPLES / example / span


@cache
def functions(file: Path) -> frozenset[str]:
    """The test functions of a module."""
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    found = (node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(name for name in found if name.startswith("test_"))


def tests(line: Line) -> list[tuple[Path | None, str]]:
    """The test functions that a row names, each with its file; None: it is in one of the example's."""
    made: list[tuple[Path | None, str]] = []
    for part in line.test.split(";"):
        file = None
        for span in spans(part):
            if is_file(span):
                file = place(line.example, span)
            else:
                made.append((file, span))
    return made


def holds(example: str, file: Path | None, name: str) -> bool:
    """Whether there is such a test function. `…` in its name stands for anything."""
    files = (
        [file]
        if file and not file.is_dir()
        else sorted((file or EXAMPLES / example / "tests").rglob("test_*.py"))
    )
    pattern = re.compile("test_" + ".*".join(re.escape(part) for part in name.split("…")))
    return any(pattern.fullmatch(one) for path in files if path.is_file() for one in functions(path))


def files(line: Line) -> list[Path]:
    """The files that a row names, and those in which the functions are that it names."""
    named = [
        place(line.example, span) for cell in (line.where, line.test) for span in spans(cell) if is_file(span)
    ]
    for file, name in tests(line):
        if file is None:
            every = (EXAMPLES / line.example / "tests").rglob("test_*.py")
            named += [path for path in every if holds(line.example, path, name)]
    return named


@cache
def text(path: Path) -> str:
    """What stands in a file, or in the files of a folder; nothing where there is none."""
    if not path.exists():
        return ""
    if path.is_dir():
        return "\n".join(
            text(one) for one in sorted(path.rglob("*")) if one.suffix in (".py", ".sql", ".json")
        )
    return path.read_text(encoding="utf-8")


@cache
def whole(example: str) -> str:
    """All sources of an example."""
    suffixes = (".py", ".sql", ".toml", ".yaml", ".json")
    return "\n".join(text(one) for one in sorted((EXAMPLES / example).rglob("*")) if one.suffix in suffixes)
