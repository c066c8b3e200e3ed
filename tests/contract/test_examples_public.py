"""What the examples use of Postmill is public: exported names, of modules that the reference has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import postmill
from tests.support.designs.tables import EXAMPLES, ROOT
from tests.support.reference.modules import MODULES

OF_DEMOS = {"postmill.local"}
"""A demo brings a database of its own along, to be started by one command. The applications themselves are given theirs."""

PUBLIC = {"postmill", "postmill.errors", "postmill.http", *MODULES} - OF_DEMOS


def sources() -> list[Path]:
    """All files of the examples but their tests, which look behind the curtain."""
    return [
        path for path in sorted(EXAMPLES.rglob("*.py")) if "tests" not in path.relative_to(EXAMPLES).parts
    ]


def used(tree: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Modules of Postmill and the names that are taken from them; wherever in the file that is, in blocks for types, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and ours(node.module or ""):
            yield from ((str(node.module), one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, None) for one in node.names if ours(one.name))
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "postmill"
        ):
            yield "postmill", node.attr


def ours(module: str) -> bool:
    return module.partition(".")[0] == "postmill"


def hidden(text: str, public: set[str]) -> list[str]:
    """What is no part of the public interface."""
    found = []
    for module, name in used(ast.parse(text)):
        if module not in public:
            found.append(f"{module}: not public")
        elif name is not None and name not in import_module(module).__all__:
            found.append(f"{module} exports no {name}")
    return found


def test_the_examples_use_nothing_else() -> None:
    found = {}
    for path in sources():
        demo = "demo" in path.relative_to(EXAMPLES).parts
        faults = hidden(path.read_text(encoding="utf-8"), PUBLIC | (OF_DEMOS if demo else set()))
        if faults:
            found[str(path.relative_to(ROOT))] = faults
    assert found == {}
    assert len(sources()) > 100


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("from postmill.domain.text import clean", "postmill.domain.text: not public"),
        ("def f():\n    from postmill import bind", "postmill exports no bind"),
        ("import postmill.engine", "postmill.engine: not public"),
        ("import postmill\npostmill.client", "postmill exports no client"),
        ("from postmill.text import unstorable", "postmill.text exports no unstorable"),
        ("from postmill.local import LocalDatabase", "postmill.local: not public"),
    ],
)
def test_what_is_not_public_is_found(text: str, fault: str) -> None:
    assert hidden(text, PUBLIC) == [fault]


def test_what_is_public_is_let_pass() -> None:
    text = f"import postmill\nfrom postmill import {', '.join(postmill.__all__)}\nimport postmill.metrics\npostmill.job"
    assert hidden(text, PUBLIC) == []
