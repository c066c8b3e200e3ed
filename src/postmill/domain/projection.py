"""Where spending leads, if it goes on as it did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Projection:
    """At the pace of the period so far.

    Attributes:
        at_end: what will be spent when the period ends.
        used_up_at: when the limit will be reached; None: not within the period, or there is no pace yet.
    """

    at_end: Decimal
    used_up_at: datetime | None


def projected(
    spent: Decimal, limit: Decimal, starts_at: datetime, ends_at: datetime, moment: datetime
) -> Projection:
    """What `spent` from the beginning of the period to `moment` comes to at its end.

    A period that has hardly begun (less than one part in a thousand) is not projected: what is spent stays so.
    """
    whole, gone = (ends_at - starts_at), (moment - starts_at)
    if spent >= limit > 0:
        used_up: datetime | None = moment
    elif spent <= 0 or gone * 1000 < whole or limit <= 0:
        used_up = None
    else:
        times = float(limit / spent)
        used_up = starts_at + gone * times if times < whole / gone else None
    if gone * 1000 < whole:
        return Projection(spent, used_up)
    pace = Decimal(str(max(whole / gone, 1.0)))
    return Projection((spent * pace).quantize(Decimal("0.000001")), used_up)
