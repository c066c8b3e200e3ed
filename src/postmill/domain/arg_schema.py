"""JSON Schemas of payloads (draft 2020-12): checked and bounded when they are saved, cached when they are used.

The API, the clients and the workers check payloads here and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from postmill.domain.arg_schema_bounds import refuse_unbounded
from postmill.domain.errors import DefinitionError, Fault

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator, ValidationError

DIALECT = "https://json-schema.org/draft/2020-12/schema"

MOST_FAULTS = 20
_ALL_FAULTS_BELOW = 10_000  # characters of JSON; of a larger payload only the first fault is looked for
_REGEX_BYTES = (
    1 << 18
)  # of one compiled pattern; the engine takes linear time, so there is nothing else to bound
_HIDDEN = "this value"  # what stands in messages in place of values, which may be secret


def check_schema(schema: object) -> dict[str, Any]:
    """`schema` if payloads can be checked against it: an object of draft 2020-12, self-contained and bounded.

    Raises:
        DefinitionError: it is no such schema, refers to another document or to itself, or is too large; `arg_schema`
            and the JSON pointer of the fault are named.
    """
    if not isinstance(schema, Mapping):
        raise DefinitionError(f"arg_schema: a JSON Schema is an object, not {type(schema).__name__}")
    made = dict(schema)
    refuse_unbounded(made)
    dialect = made.get("$schema", DIALECT)
    if dialect != DIALECT:
        raise DefinitionError(f"arg_schema: #/$schema is {dialect!r}; the only dialect is {DIALECT}")
    import jsonschema_rs

    try:
        _built(made, formats=True)
    except jsonschema_rs.ValidationError as fault:
        at = _pointer(fault.instance_path)
        raise DefinitionError(f"arg_schema: {at}: {fault.message[:300]}") from None
    except (ValueError, jsonschema_rs.ReferencingError) as fault:
        raise DefinitionError(f"arg_schema: {str(fault)[:300]}") from None
    return made


def faults(schema: str, payload: object, *, formats: bool = True) -> list[Fault]:
    """What is wrong with a payload, each with its JSON pointer; empty where it fits. At most 20.

    Args:
        schema: the text of a schema, as the definition holds it.
        payload: plain JSON data.
        formats: `format` is an assertion. Off for what a Python function registered: its own types decide.
    """
    validator = _validator(schema, formats)
    if validator is None or validator.is_valid(payload):
        return []
    # All faults are found before the first is told: an array of half a million wrong items makes as many.
    small = len(json.dumps(payload)) <= _ALL_FAULTS_BELOW
    found = (
        list(islice(validator.iter_errors(payload), MOST_FAULTS)) if small else [_first(validator, payload)]
    )
    told = [Fault(_pointer(fault.instance_path), fault.message[:300]) for fault in found]
    return sorted(told, key=lambda fault: (fault.path, fault.why))


def _first(validator: Draft202012Validator, payload: Any) -> ValidationError:
    import jsonschema_rs

    try:
        validator.validate(payload)
    except jsonschema_rs.ValidationError as fault:
        return fault
    raise AssertionError("what is not valid has a fault")


@lru_cache(maxsize=1024)
def _validator(schema: str, formats: bool) -> Draft202012Validator | None:
    """The validator for a schema's text; None where everything fits."""
    data = json.loads(schema)
    return _built(data, formats=formats) if data and data is not True else None


def _built(schema: dict[str, Any], *, formats: bool) -> Draft202012Validator:
    import jsonschema_rs  # 10 ms, which a program pays that checks by a schema

    return jsonschema_rs.Draft202012Validator(
        schema,
        validate_formats=formats,
        retriever=_refuse,
        mask=_HIDDEN,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES),
    )


def _refuse(uri: str) -> Any:
    raise ValueError("other documents are not fetched")


def _pointer(path: Sequence[str | int]) -> str:
    """A JSON pointer as a fragment (RFC 6901, section 6): `#` is the whole payload, `#/a/0` an item in it."""
    return "#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
