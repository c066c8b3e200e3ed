"""Bodies of JSON, read strictly: what could not be stored, or would be read differently by others, is refused."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic_core import from_json

from postmill.api.problems import Problem
from postmill.domain.payload_faults import MAX_DEPTH, find_fault


class JsonRequest(Request):
    """A request whose `json()` takes standard JSON only (RFC 8259): no NaN, no lone surrogates, bounded nesting.

    The parser's own bound leaves a payload inside of a body the 200 levels that payloads may have everywhere.
    """

    async def json(self) -> Any:
        """The body's value.

        Raises:
            Problem: 400 for what is no JSON, 422 for what no database can hold.
        """
        raw = await self.body()
        try:
            value = from_json(raw, allow_inf_nan=False)
        except ValueError as fault:
            if "recursion limit" in str(fault):
                raise Problem(
                    422, "too-deep", f"what is in the body is nested deeper than {MAX_DEPTH} levels"
                ) from None
            raise Problem(400, "invalid-json", f"the body is not JSON: {str(fault)[:200]}") from None
        if b"\\u0000" in raw or b"\0" in raw:
            found = find_fault(value, "body")
            if found is not None:
                raise Problem(422, "unstorable", f"{found.path}: {found.why}")
        return value
