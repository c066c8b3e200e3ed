"""What a handler returned, as JSON text that can be stored."""

from __future__ import annotations

import json

from postmill.domain.errors import PayloadRefused
from postmill.domain.payload import serialize
from postmill.domain.payload_faults import find_fault

MOST = 1 << 24
"""Results above 16 MiB are refused; large things belong into an artifact."""


def encode_result(value: object) -> bytes | None:
    """JSON text, None for None. Raises PayloadRefused, which is no reason to try again, with the path of the fault."""
    if value is None:
        return None
    try:
        raw = serialize(value)
    except PayloadRefused as refused:
        raise PayloadRefused("result" + refused.path.removeprefix("args"), refused.why) from None
    if len(raw) > MOST:
        raise PayloadRefused("result", f"{len(raw)} bytes of JSON; at most {MOST} are allowed")
    # What will be stored is looked at, not the value: a serializer of the user's own may have written it.
    try:
        fault = find_fault(json.loads(raw), "result")
    except (ValueError, RecursionError) as error:
        raise PayloadRefused("result", f"cannot be read back as JSON: {str(error)[:300]}") from None
    if fault is not None:
        raise PayloadRefused(fault.path, fault.why)
    return raw
