"""The Python interface, from the public names and their docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections.abc import Iterator
from enum import Enum
from types import MappingProxyType
from typing import Any

import postmill
import postmill.errors
from postmill.domain.job_options import JobOptions
from postmill.domain.job_type_options import JobTypeOptions
from tests.support.reference.docstrings import attribute_texts, for_readers, paragraphs
from tests.support.reference.markdown import code, table

GROUPS = MappingProxyType(
    {
        "Defining jobs": "job",
        "Enqueuing them": "enqueue",
        "Running them": "Context",
        "What goes wrong": "PostmillError",
    }
)
"""A title, and the first of the public names that it stands above; they are grouped in `postmill.__all__`."""

_NO_SIGNATURE = {
    *("job", "JobType", "Classifier", "Context", "Settings", "NewJob", "JobView"),
    *("Bounded", "Budget", "DeclaredTrigger", "Decorator", "JobTypeOptions"),
}
_MEMBERS = {
    *("JobType", "Classifier", "Registry", "Client", "NewJob", "Context", "Worker"),
    *("Bounded", "Budget", "LocalDatabase"),
}
_INNER = {"granted", "seen", "unknown", "aunknown"}
"""Methods that the parts of Postmill have for one another."""


def sections() -> str:
    """A section per group, an entry per name."""
    titles = {first: title for title, first in GROUPS.items()}
    parts = []
    for name in postmill.__all__:
        if name in titles:
            parts.append(f"## {titles[name]}\n")
        parts.append(entry(name, getattr(postmill, name)))
    return "\n".join(parts)


def errors() -> str:
    """The errors below the base of all, by the module that they are imported from."""
    found = [getattr(postmill.errors, name) for name in postmill.errors.__all__ if name != "PostmillError"]
    return table(
        ("error", "meaning"), [(code(f"postmill.errors.{one.__name__}"), _first(one)) for one in found]
    )


def job_type_options() -> str:
    """What `@job(…)` takes."""
    texts = attribute_texts(JobTypeOptions)
    return table(("option", "meaning"), [(code(name), text) for name, text in texts.items()])


def job_options() -> str:
    """What `.using(…)` takes."""
    hints = typing.get_type_hints(JobOptions)
    return table(("option", "type"), [(code(name), code(_type(hint))) for name, hint in hints.items()])


def entry(name: str, value: Any, level: int = 3) -> str:
    """A heading of this level, how it is called, and what it says of itself."""
    parts = [f"{'#' * level} {name}"]
    if name not in _NO_SIGNATURE and not issubclass(value if isinstance(value, type) else object, Exception):
        parts.append(f"```py\n{name}{signature(value)}\n```")
    parts.append(paragraphs(_doc(value)))
    if dataclasses.is_dataclass(value) and name in ("NewJob", "JobView", "Enqueued"):
        fields = [(code(one.name), code(str(one.type))) for one in dataclasses.fields(value) if one.repr]
        parts.append(table(("field", "type"), fields))
    if name in _MEMBERS:
        rows = [(code(called), text) for called, text in _members(value)]
        parts.append(table(("method or property", "meaning"), rows))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _members(kind: type) -> Iterator[tuple[str, str]]:
    for name, value in vars(kind).items():
        if name.startswith("_") or name in _INNER:
            continue
        if isinstance(value, property):
            if value.__doc__:
                yield name, _first(value)
        elif isinstance(value, classmethod) or inspect.isfunction(value):
            function = value.__func__ if isinstance(value, classmethod) else value
            yield f"{name}{signature(function, bound=True)}", _first(function)


def signature(value: Any, *, bound: bool = False) -> str:
    """As it is called: `(job: NewJob, *, wait: float | None = None) -> Enqueued`, without `self`."""
    found = inspect.signature(value)
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    parts: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        parts.append(_parameter(parameter))
    answer = "" if isinstance(value, type) else f" -> {_flow(str(found.return_annotation))}"
    line = f"({', '.join(parts)}){answer}"
    if bound or len(line) <= 90:
        return line
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){answer}"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else stars
    text = f"{stars}{parameter.name}: {parameter.annotation}"
    default = parameter.default
    if default is parameter.empty:
        return text
    shown = (
        repr(default.value)
        if isinstance(default, Enum)
        else "…"
        if "factory" in str(default) or " at 0x" in repr(default)
        else repr(default)
    )
    return f"{text} = {shown}"


def _flow(answer: str) -> str:
    """What a flow answers, for the methods that are made of one."""
    found = re.fullmatch(r"(?:Coroutine\[Any, Any, |Flow\[|Call\[)(.*)\]", answer)
    return found[1] if found else answer


def _type(hint: Any) -> str:
    text = str(hint) if typing.get_origin(hint) or not isinstance(hint, type) else hint.__name__
    return re.sub(r"\b(?:typing|uuid|datetime|postmill\.[\w.]+)\.(?=\w)", "", text).replace(
        "NoneType", "None"
    )


def _first(value: Any) -> str:
    """The first paragraph of a docstring."""
    return " ".join(_doc(value).partition("\n\n")[0].split())


def _doc(value: Any) -> str:
    return for_readers(inspect.getdoc(value) or "")
