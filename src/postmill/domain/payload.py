"""Payloads as JSON bytes; what some layer below could not carry is refused at enqueue (cases 69, 71).

The checks look at the finished bytes first: one pass of `memchr` speed each. Only a suspicion makes them look
closer, and only a refusal looks for the path.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

import orjson
from pydantic_core import PydanticSerializationError, to_json

from postmill.domain.errors import PayloadRefused
from postmill.domain.payload_faults import MAX_DEPTH, MAX_DIGITS, find_fault
from postmill.domain.text import unstorable

MAX_BYTES = 1024 * 1024
"""Payloads above 1 MiB are refused; large things belong into an artifact."""

# An escaped NUL: an odd number of backslashes before `u0000`. An even number is the harmless literal text.
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_TOO_MANY_DIGITS = re.compile(rb"[0-9]{%d}" % (MAX_DIGITS + 1))
# orjson would write a naive datetime; these kinds are left to pydantic, after a look.
_PLAIN_ONLY = (
    orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def encode(value: Mapping[str, object], *, max_bytes: int = MAX_BYTES) -> bytes:
    """A mapping as checked JSON bytes.

    Besides JSON's own types it may hold what pydantic knows: UUID, Decimal, date, aware datetime, Enum,
    models and dataclasses. Raises PayloadRefused, naming the path.
    """
    if not isinstance(value, Mapping):
        raise PayloadRefused("args", f"the payload is an object, not {type(value).__name__}")
    raw = _plain(value)
    if raw is None:
        refuse_fault(value)
        raw = serialize(value)
    return check_encoded(raw, value, max_bytes=max_bytes)


def _plain(value: object) -> bytes | None:
    """The quick way for values of JSON's own types, or None. To orjson a NaN is null: then it is no way."""
    try:
        raw = orjson.dumps(value, option=_PLAIN_ONLY)
    except (TypeError, ValueError, RecursionError):
        return None
    return None if b"null" in raw else raw


def decode(payload: bytes | str) -> object:
    """JSON text as Python values."""
    return json.loads(payload)


def serialize(value: object) -> bytes:
    """`value` as JSON bytes, not yet checked; PayloadRefused where pydantic cannot write it."""
    try:
        return to_json(value, inf_nan_mode="constants", bytes_mode="base64")
    except (PydanticSerializationError, ValueError, RecursionError) as fault:
        raise refusal(value, fault) from None


def check_encoded(raw: bytes, value: object, *, max_bytes: int = MAX_BYTES) -> bytes:
    """`raw` if it can be stored; else PayloadRefused. It was written from `value`, which names the path."""
    if len(raw) > max_bytes:
        raise PayloadRefused("args", f"{len(raw)} bytes of JSON; at most {max_bytes} are allowed")
    suspect = (
        (b"\\u0000" in raw and _ESCAPED_NUL.search(raw) is not None)
        or b"NaN" in raw
        or b"Infinity" in raw
        or raw.count(b"{") + raw.count(b"[") > MAX_DEPTH
        or (len(raw) > MAX_DIGITS and _TOO_MANY_DIGITS.search(raw) is not None)
    )
    if suspect:
        refuse_fault(value)
        _refuse_depth(raw)
        # What a serializer wrote need not be in the value itself: look at what will be stored, too.
        check_text(raw, max_bytes=max_bytes)
    return raw


def check_text(text: bytes | str, *, max_bytes: int = MAX_BYTES) -> bytes:
    """JSON text from outside (CLI, HTTP) as bytes; PayloadRefused unless it is an object we can store."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(raw) > max_bytes:
        raise PayloadRefused("args", f"{len(raw)} bytes of JSON; at most {max_bytes} are allowed")
    _refuse_depth(raw)
    try:
        # Decoded here, for json.loads would take UTF-16 and lone surrogates.
        value = json.loads(raw.decode(), parse_constant=_no_constant, parse_float=_finite, parse_int=_short)
    except PayloadRefused:
        raise
    except (ValueError, RecursionError) as fault:
        raise PayloadRefused("args", f"is not JSON: {fault}") from None
    if not isinstance(value, dict):
        raise PayloadRefused("args", f"the payload is an object, not {type(value).__name__}")
    refuse_fault(value)
    return raw


def refuse_fault(value: object) -> None:
    """Raises PayloadRefused for the first thing in `value` that cannot be stored."""
    fault = find_fault(value, "args")
    if fault is not None:
        raise PayloadRefused(fault.path, fault.why)


def refusal(value: object, fault: Exception) -> PayloadRefused:
    """The refusal for a value that the serializer gave up on, by its path where that can be found."""
    found = find_fault(value, "args", json_only=True)
    if found is not None:
        return PayloadRefused(found.path, found.why)
    return PayloadRefused("args", f"cannot be written as JSON: {str(fault)[:300]}")


def check_line(path: str, text: str, *, longest: int = 512) -> str:
    """A short text that travels with a job (a key, an id, a name): storable, not empty, at most 512 bytes."""
    why = unstorable(text)
    if why is None and not text:
        why = "is empty"
    if why is None and len(text) > longest // 4 and len(text.encode()) > longest:
        why = f"has {len(text.encode())} bytes; at most {longest} are allowed"
    if why is not None:
        raise PayloadRefused(path, why)
    return text


def _refuse_depth(raw: bytes) -> None:
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:
        return
    depth = 0
    for char in _STRING.sub(b"", raw):
        if char in b"{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise PayloadRefused("args", f"is nested deeper than {MAX_DEPTH} levels")
        elif char in b"}]":
            depth -= 1


def _no_constant(name: str) -> object:
    raise PayloadRefused("args", f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise PayloadRefused("args", f"the number {digits[:40]} is too large")
    return number


def _short(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise PayloadRefused("args", f"an integer of {len(digits)} digits; at most {MAX_DIGITS} are allowed")
    return int(digits)
