"""The client of the HTTP API: its methods by their groups, and its errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from postmill.http import ApiClient, ApiError
from postmill.http import errors as http_errors
from postmill.http.blocking import Group
from tests.support.reference.docstrings import paragraphs
from tests.support.reference.markdown import code, table
from tests.support.reference.names import signature

_EVEN = re.compile(r"(?:each|save)(_\w+)?")
"""Other ways to a list's items or to a file's content, said beside the first one."""


def section() -> str:
    """The class, a table of the methods of each group, and the errors."""
    parts = [f"```py\nApiClient{signature(ApiClient)}\n```", paragraphs(inspect.getdoc(ApiClient) or "")]
    with ApiClient("http://localhost", "key") as api:
        groups: dict[str, type[Group]] = {"": ApiClient}
        groups |= {name: type(one) for name, one in vars(api).items() if isinstance(one, Group)}
    for name, group in groups.items():
        about = "Of the client itself." if group is ApiClient else inspect.getdoc(group)
        parts.append(f"### {name or 'ApiClient'}\n\n{about}")
        parts.append(table(("method", "meaning"), _rows(name, group)))
    return "\n\n".join(part.strip() for part in parts)


def errors() -> str:
    """The errors."""
    known: list[type[Exception]] = [
        ApiError,
        *ApiError.__subclasses__(),
        http_errors.Unreachable,
        http_errors.UnexpectedAnswer,
    ]
    return table(
        ("error", "meaning"), [(code(f"postmill.http.{one.__name__}"), _first(one)) for one in known]
    )


def _rows(name: str, group: type[Group]) -> Iterator[tuple[str, str]]:
    built: dict[Callable[..., Any], list[str]] = {}
    for method, value in vars(group).items():
        if hasattr(value, "__wrapped__"):
            built.setdefault(value.__wrapped__, []).append(method)
    for build, (method, *others) in built.items():
        assert all(map(_EVEN.fullmatch, others)), others
        shown = ".".join(filter(None, (name, method)))
        also = "".join(f" `{other}`: {_MEANS[other.partition('_')[0]]}." for other in others)
        yield code(f"{shown}{_on_one_line(signature(build))}"), _first(build) + also


_MEANS = {"each": "every item of all pages", "save": "into the file of its first argument"}


def _on_one_line(text: str) -> str:
    return re.sub(r",?\s+\)", ")", re.sub(r"\(\s+", "(", " ".join(text.split())))


def _first(value: object) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())
