"""The token of a fence."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postmill.domain.fence import LENGTH, fence_token, read_fence


@given(st.uuids(), st.integers(min_value=0, max_value=(1 << 63) - 1))
def test_what_is_written_is_read(holder: UUID, claim_no: int) -> None:
    token = fence_token(holder, claim_no)
    assert len(token) == LENGTH
    assert read_fence(token) == (holder, claim_no)


@pytest.mark.parametrize(
    "text", ["", "A", "A" * 31, "A" * 33, "A" * 36, "=" * 32, "ä" * 32, "-_+/" * 8, "A" * 31 + "=", "_" * 32]
)
def test_other_texts_are_none(text: str) -> None:
    assert read_fence(text) is None
