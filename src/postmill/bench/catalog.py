"""All cases, in the order in which help shows them."""

from __future__ import annotations

from postmill.bench.case import Case
from postmill.bench.cases import throughput

CASES: dict[str, Case] = {case.name: case for case in (throughput.CASE,)}
