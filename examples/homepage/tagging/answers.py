"""Reads the tags out of what a model has said. Models are asked for JSON alone, and send nearly that.

What is meant without doubt is mended: text or fences around the object, commas and quotes that are amiss. What may have been
meant otherwise is not: an answer that was cut, two objects, a key twice, a number that is none.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import json_repair
from pydantic import ValidationError

from examples.homepage.tagging.errors import BadAnswer
from examples.homepage.tagging.tags import AiTags

MOST_CHARACTERS = 20_000
"""Tags are some hundred."""


def tags_of(text: str, stop_reason: str | None) -> AiTags:
    """The tags that an answer holds. Raises BadAnswer, which says what is wrong."""
    if stop_reason == "refusal":
        raise BadAnswer("refused", text)
    if stop_reason != "end_turn":
        raise BadAnswer(f"cut ({stop_reason})", text)
    if not text.strip():
        raise BadAnswer("empty", text)
    if len(text) > MOST_CHARACTERS:
        raise BadAnswer("too long", text)
    try:
        return AiTags.model_validate(_object(text))
    except ValidationError as fault:
        [first, *_] = fault.errors(include_input=False, include_url=False)
        raise BadAnswer(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", text) from None
    except _NotClear as fault:
        raise BadAnswer(str(fault), text) from None


class _NotClear(Exception):
    pass


def _object(text: str) -> dict[str, Any]:
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise _NotClear("no JSON object")
    found = _objects(text)
    if not found:
        return _mended(text[begin : end + 1])
    if any(one != found[0] for one in found):
        raise _NotClear("more than one object")
    return found[0]


def _objects(text: str) -> list[dict[str, Any]]:
    """All that is JSON as it stands, outermost only."""
    found, at = [], text.find("{")
    while at >= 0:
        try:
            value, after = _STRICT.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            after = at + 1
        else:
            found.append(value)
        at = text.find("{", after)
    return found


def _mended(text: str) -> dict[str, Any]:
    # An object within the first is no JSON either, or it would have been found: one pair of braces is all there may be.
    if text.count("{") != 1:
        raise _NotClear("no JSON object")
    value = json_repair.loads(text, skip_json_loads=True)
    if not isinstance(value, dict):
        raise _NotClear("no JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _NotClear("a key is there twice")
    return made


def _no_number(name: str) -> NoReturn:
    raise _NotClear(f"{name} is no number")


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)
