"""The names of `postmill.contrib` and `postmill.testing`, from their docstrings."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import MappingProxyType
from typing import Any

from tests.support.reference.docstrings import paragraphs
from tests.support.reference.markdown import code, table

CONTRIB = MappingProxyType(
    {
        "postmill.contrib.django": (
            *("enqueue", "aenqueue", "enqueue_many", "publish", "cancel", "enqueue_on_commit"),
            *("PostmillBackend", "console_url", "job_link"),
        ),
        "postmill.contrib.fastapi": ("lifespan", "client"),
        "postmill.contrib.flask": ("Postmill",),
        "postmill.contrib.sqlalchemy": ("enqueue_on_commit",),
        "postmill.contrib.alembic": ("leave_postmill",),
    }
)


def contrib() -> str:
    """A table per framework."""
    return "\n".join(f"### {module}\n\n{_names(module, names)}" for module, names in CONTRIB.items())


def testing() -> str:
    """One table."""
    module = "postmill.testing"
    return _names(module, tuple(import_module(module).__all__))


def _names(module: str, names: tuple[str, ...]) -> str:
    values = [(name, getattr(import_module(module), name)) for name in names]
    return table(
        ("name", "meaning"), [(code(_called(name, value)), _meaning(value)) for name, value in values]
    )


def _called(name: str, value: Any) -> str:
    if isinstance(value, type):
        return name
    return f"{name}({', '.join(map(_parameter, inspect.signature(value).parameters.values()))})"


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.KEYWORD_ONLY:
        return f"{parameter.name}=…"
    return str(parameter.replace(annotation=parameter.empty, default=parameter.empty))


def _meaning(value: Any) -> str:
    return paragraphs(value.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
