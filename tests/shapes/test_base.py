"""Bodies are exact about JSON's types; answers pass over what is new."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from postmill.shapes.base import Answer, Model
from postmill.shapes.jobs import Job
from postmill.shapes.paging import Page


class Body(Model):
    count: int
    on: bool = True


class Said(Answer):
    count: int


@pytest.mark.parametrize(
    "text", ['{"count": "5"}', '{"count": true}', '{"count": 5, "on": 1}', '{"count": 5, "of": 1}']
)
def test_a_body_of_other_types_or_fields_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        Body.model_validate_json(text)
    assert Body.model_validate_json('{"count": 5.0}').count == 5


def test_an_answer_may_have_more_fields() -> None:
    assert Said.model_validate_json('{"count": 5, "of": 9}') == Said(count=5)
    page = Page[Said].model_validate_json('{"items": [{"count": 1, "of": 9}], "next": null, "total": 1}')
    assert page.items == [Said(count=1)]
    with pytest.raises(ValidationError):
        Said.model_validate_json('{"count": "5"}')


def test_validators_do_not_pile_up() -> None:
    """However many models and routes hold a model, a number is looked at once."""
    for _ in range(2):
        TypeAdapter(list[Job])
    assert max(_depths(Job.__pydantic_core_schema__, 0)) == 1


def _depths(schema: Any, depth: int) -> Iterator[int]:
    yield depth
    inner = (
        schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list | tuple) else ()
    )
    for one in inner:
        counts = isinstance(schema, dict) and schema.get("type") == "function-before"
        yield from _depths(one, depth + counts)
