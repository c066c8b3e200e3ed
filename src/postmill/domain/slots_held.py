"""What keeps the slots of a queue from becoming more, as a worker reports it and as people read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from postmill.domain.slot_tuner import Because, Look, hurt


def held(because: Because | None, seen: Look) -> dict[str, Any] | None:
    """As it is reported: `because`, and `now`, how much it is, where it hurts now; None: nothing holds them."""
    if because is None:
        return None
    now = {Because.CPU: seen.cpu, Because.MEMORY: seen.memory, Because.LATENCY: seen.slower}.get(because)
    return {"because": because.value, **({"now": round(now, 3)} if now and hurt(seen) is because else {})}


def held_text(told: Mapping[str, Any] | None) -> str | None:
    """In words: `processor pressure 97 %`. None: nothing holds them."""
    if not told:
        return None
    because, now = told["because"], told.get("now")
    match because:
        case "cpu":
            return (
                "processor was short lately"
                if now is None
                else f"processor pressure {now:.0%}".replace("%", " %")
            )
        case "memory":
            return "memory was short lately" if now is None else f"memory {now:.0%} in use".replace("%", " %")
        case _:
            return "jobs were slow lately" if now is None else f"jobs take {now:.1f} times as long"
