"""The documentation inside the standard library: docstrings, read without importing, and help topics."""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from pydoc_data import topics

from examples.enrichment.texts.found import FoundText, text_of
from examples.enrichment.texts.prose import paragraphs


def docstrings() -> Iterator[FoundText]:
    """The docstrings of the standard library's modules and of their classes."""
    root = Path(sysconfig.get_path("stdlib"))
    for file in sorted([*root.glob("[a-z]*.py"), *root.glob("[a-z]*/__init__.py")]):
        name = file.parent.name if file.name == "__init__.py" else file.stem
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue  # templates for other tools lie there, too
        yield from _of_node(name, tree)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield from _of_node(f"{name}.{node.name}", node)


def language_topics() -> Iterator[FoundText]:
    """The chapters that `help("…")` shows."""
    for name, content in sorted(topics.topics.items()):
        text = text_of("module", f"help({name!r})", "", paragraphs(content))
        if text is not None:
            yield text


def _of_node(name: str, node: ast.Module | ast.ClassDef) -> Iterator[FoundText]:
    content = ast.get_docstring(node)
    text = text_of("module", name, name, paragraphs(content)) if content else None
    if text is not None:
        yield text
