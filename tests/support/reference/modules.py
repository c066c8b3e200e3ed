"""The public modules beside `postmill` itself, from their docstrings."""

from __future__ import annotations

from importlib import import_module

from tests.support.reference.docstrings import paragraphs
from tests.support.reference.names import entry

MODULES = (
    *("postmill.metrics", "postmill.connections", "postmill.retrying", "postmill.text"),
    *("postmill.typing", "postmill.settings", "postmill.local"),
)
"""Those that have no chapter of their own on the page."""


def sections() -> str:
    """A section per module, an entry per name."""
    return "\n".join(_section(module) for module in MODULES)


def _section(name: str) -> str:
    module = import_module(name)
    entries = [entry(one, getattr(module, one), level=4) for one in module.__all__]
    return "\n".join([f"### {name}\n", f"{_example(paragraphs(module.__doc__ or ''))}\n", *entries])


def _example(text: str) -> str:
    """Indented code as a block of Python that is read, not run."""
    made, held = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("    "):
            held.append(line[4:])
            continue
        if held:
            made += ["```py", *held, "```"]
            held = []
        made.append(line)
    return "\n".join(made).strip()
