"""Handlers as people write them: with string annotations, a context, types of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import pytest
from pydantic import BaseModel, Field

from postmill.domain.context import HandlerContext
from postmill.domain.errors import DefinitionError, PayloadRefused
from postmill.domain.job_type import job
from postmill.domain.signature import read_signature

if TYPE_CHECKING:
    from somewhere import Thing  # type: ignore[import-not-found]

    from postmill import Context

F = TypeVar("F", bound=Callable[..., Any])


class Size(BaseModel):
    width: int


class OwnContext(HandlerContext):
    pass


def test_string_annotations_are_resolved() -> None:
    @job
    def resize(size: Size, times: Annotated[int, Field(ge=1)] = 1) -> None: ...

    assert resize.bind(b'{"size": {"width": 3}}') == {"size": Size(width=3), "times": 1}

    @job
    def unlock(pin: str = Field(pattern="^[0-9]$"), times: int = Field(3, ge=1)) -> None: ...

    assert unlock.json_schema()["required"] == ["pin"]
    assert unlock.bind(b'{"pin": "4"}') == {"pin": "4", "times": 3}


def test_types_of_the_enclosing_function_are_found() -> None:
    class Local(BaseModel):
        a: int

    @job
    def handler(value: Local) -> int:
        return Local(a=value.a).a

    assert handler.bind(b'{"value": {"a": 1}}') == {"value": Local(a=1)}


def test_a_context_imported_for_type_checkers_only() -> None:
    def first(ctx: Context, a: int) -> None: ...
    def last(a: int, context: Context) -> None: ...
    def optional(a: int, ctx: OwnContext | None = None) -> None: ...
    def annotated(ctx: Annotated[OwnContext, "x"], a: int) -> None: ...

    found = {fn.__name__: read_signature(fn, "t") for fn in (first, last, optional, annotated)}
    assert {name: s.context for name, s in found.items()} == {
        "first": "ctx", "last": "context", "optional": "ctx", "annotated": "ctx"
    }  # fmt: skip
    assert all(s.names == ("a",) for s in found.values())


def test_the_engines_context_is_known_by_its_name() -> None:
    engine = type("Context", (), {"__module__": "postmill.engine.context", "__qualname__": "Context"})
    other = type("Context", (), {"__module__": "elsewhere"})

    def handler(ctx: Any) -> None: ...

    handler.__annotations__ = {"ctx": engine}
    assert read_signature(handler, "t").context == "ctx"
    handler.__annotations__ = {"ctx": other}
    with pytest.raises(DefinitionError, match="cannot be modelled"):
        read_signature(handler, "t")


def test_decorated_functions_are_read_where_they_were_written() -> None:
    def decorated(fn: F) -> F:
        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return fn(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    @job
    @decorated
    def handler(size: Size) -> None: ...

    assert handler.bind(b'{"size": {"width": 3}}') == {"size": Size(width=3)}


def test_what_cannot_be_served_is_refused_with_the_parameter() -> None:
    def star(*args: int) -> None: ...
    def stars(**kwargs: int) -> None: ...
    def only(a: int, /) -> None: ...
    def unknown(thing: Thing) -> None: ...
    def twice(a: Context, b: Context) -> None: ...
    def method(self: int) -> None: ...
    def private(_a: int) -> None: ...
    def handle(a: Signature) -> None: ...  # type: ignore[name-defined] # noqa: F821

    for fn, why in (
        (star, "'args': arguments are passed by name"),
        (stars, "'kwargs': arguments are passed by name"),
        (only, "'a': arguments are passed by name"),
        (unknown, "'thing': annotation 'Thing' cannot be resolved"),
        (twice, "'b': the context is asked for twice"),
        (method, "'self': @job goes on functions"),
        (private, "cannot be called '_a'"),
        (handle, "'a': annotation 'Signature' cannot be resolved"),
    ):
        with pytest.raises(DefinitionError, match=f"job type 't'.*{why}"):
            read_signature(fn, "t")


@pytest.mark.parametrize(
    ("default", "why"),
    [(None, "does not fit"), ("x", "does not fit"), (object(), "does not fit"), ([], "does not fit")],
)
def test_a_default_that_its_own_annotation_refuses(default: Any, why: str) -> None:
    def handler(a: str, size: int = default) -> None: ...

    with pytest.raises(DefinitionError, match=f"job type 't': the default of .*{why}"):
        read_signature(handler, "t")


@pytest.mark.parametrize(
    ("default", "why"),
    [
        ("a\0b", "size: holds a NUL character"),
        ({"deep": ["\0"]}, r"size.deep\[0\]: holds a NUL character"),
        ("\ud800", "size: holds a lone surrogate"),
        (float("nan"), "size: is nan, which is no JSON number"),
        (datetime(2030, 1, 1), "size: is a datetime without a time zone"),
    ],
)
def test_a_default_that_no_database_can_hold(default: Any, why: str) -> None:
    """Else the worker that registers the type would not start, and say no more than `unsupported Unicode`."""

    def handler(a: str, size: Any = default) -> None: ...

    with pytest.raises(
        DefinitionError, match=f"job type 't', parameter 'size': its default cannot be stored: {why}"
    ):
        read_signature(handler, "t")


def test_without_an_annotation_anything_goes() -> None:
    def handler(a, b=2):  # type: ignore[no-untyped-def]
        pass

    signature = read_signature(handler, "t")
    assert signature.names == ("a", "b")
    assert signature.may_hide_datetimes


def test_only_instances_that_come_from_outside_are_checked_again_when_written() -> None:
    def flat(a: int, b: list[str] | None = None, c: Any = None) -> None: ...
    def deep(a: Size) -> None: ...
    def deeper(a: list[Size] | None = None) -> None: ...

    assert not read_signature(flat, "t").may_hide_mismatches
    assert read_signature(deep, "t").may_hide_mismatches
    assert read_signature(deeper, "t").may_hide_mismatches


@pytest.mark.parametrize(
    ("annotation", "hides"),
    [
        (int, False), (str | None, False), (dict[str, list[int]], False), (Size, False),
        (Any, True), ("datetime.datetime", True), (dict[str, Any], True),
    ],
)  # fmt: skip
def test_only_types_that_could_hold_a_naive_datetime_cost_a_look(annotation: Any, hides: bool) -> None:
    import datetime

    def handler(a: Any) -> None: ...

    handler.__annotations__ = {"a": datetime.datetime if isinstance(annotation, str) else annotation}
    assert read_signature(handler, "t").may_hide_datetimes is hides


def test_a_field_of_a_payload_may_have_any_name() -> None:
    """`self` is refused as any other that the handler does not take."""

    @job
    def plain(a: int) -> None: ...

    for made in (plain, plain.using(priority=1)):
        with pytest.raises(PayloadRefused, match="self"):
            made.new(a=1, self=2)
