"""What may be said of a budget, checked: in settings, over the API, on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from postmill.domain.budget import DEFAULT_ALERTS, DEFAULT_LEVELS, BudgetAction, Level, amount, plain
from postmill.domain.errors import InvalidValue
from postmill.domain.suggest import did_you_mean
from postmill.domain.zone import zone

FIELDS = ("limit", "period", "timezone", "unit", "levels", "alerts")
SEVERITIES = ("info", "warning", "critical")
PERIODS = ("month", "day")
MOST_ALERTS = 20

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_UNIT = re.compile(r"[A-Za-z][A-Za-z0-9 ._-]{0,15}")
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def check_budget_name(name: object) -> str:
    """`name` if a budget can have it. Raises InvalidValue."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidValue(
            f"{str(name)[:80]!r} is no name of a budget; use 1 to 64 of A-Z, a-z, 0-9 and . _ : -, no sign first"
        )
    return name


def check_period_name(text: object) -> str:
    """`2025-01` or `2025-01-31`. Raises InvalidValue."""
    if isinstance(text, str):
        if _MONTH.fullmatch(text):
            return text
        try:
            if len(text) == 10 and _MONTH.fullmatch(text[:7]) and date.fromisoformat(text):
                return text
        except ValueError:
            pass
    raise InvalidValue(f"{str(text)[:40]!r} names no period; write 2025-01 for a month, 2025-01-31 for a day")


def check_fields(given: Mapping[str, Any], *, whole: bool = False) -> dict[str, Any]:
    """The fields that are named, as the database takes them; `whole`: all of them, filled in with the defaults.

    Args:
        given: `limit` (in `unit`), `period` (month | day), `timezone` (None: the tenant's, or UTC), `unit`, `levels` (by
            lower-case name: `from` in percent, `factor`, `action`; what is not named is as by default), `alerts`
            (percent → info | warning | critical).

    Raises:
        InvalidValue: names the field, what was expected and what came.
    """
    unknown = next((name for name in given if name not in FIELDS), None)
    if unknown is not None:
        raise InvalidValue(
            f"unknown field {str(unknown)[:40]!r} of a budget{did_you_mean(str(unknown), FIELDS, noun='fields')}"
        )
    if whole and given.get("limit") is None:
        raise InvalidValue("limit: a budget needs one, such as 500")
    made: dict[str, Any] = {}
    if given.get("limit") is not None:
        made["limit_amount"] = plain(amount(given["limit"], "limit"))
    if whole or given.get("period") is not None:
        made["period"] = _one_of("period", given.get("period") or "month", PERIODS)
    if whole or "timezone" in given:
        made["timezone"] = _zone(given.get("timezone"))
    if whole or given.get("unit") is not None:
        made["unit"] = _unit(given.get("unit") or "USD")
    if whole or given.get("levels") is not None:
        made |= _levels(given.get("levels") or {})
    if whole or given.get("alerts") is not None:
        made |= _alerts(DEFAULT_ALERTS if given.get("alerts") is None else given["alerts"])
    return made


def _levels(given: Any) -> dict[str, Any]:
    names = [level.lower() for level in Level]
    if not isinstance(given, Mapping):
        raise InvalidValue(f"levels: expected levels by name ({', '.join(names)})")
    by_name = {str(name).casefold().replace("-", "_"): said for name, said in given.items()}
    stray = next((name for name in by_name if name not in names), None)
    if stray is not None:
        raise InvalidValue(
            f"levels: there is no level {stray[:40]!r}{did_you_mean(stray, names, noun='levels')}"
        )
    shares, factors, actions = [], [], []
    for rule in DEFAULT_LEVELS:
        name = rule.level.lower()
        said = by_name.get(name) or {}
        if not isinstance(said, Mapping) or (stray := next(iter(said.keys() - _PARTS), None)) is not None:
            raise InvalidValue(f"levels.{name}: expected from, factor and action")
        part = {key: value for key, value in said.items() if value is not None}
        shares.append(_share(f"levels.{name}.from", part.get("from", rule.from_percent)))
        factors.append(amount(part.get("factor", rule.factor), f"levels.{name}.factor"))
        actions.append(_one_of(f"levels.{name}.action", part.get("action", rule.action), tuple(BudgetAction)))
        if factors[-1] > 1:
            raise InvalidValue(f"levels.{name}.factor: {factors[-1]} is above 1; it makes batches smaller")
    if shares[0] != 0:
        raise InvalidValue(f"levels.normal.from: begins at 0, not at {plain(shares[0])}")
    if shares != sorted(shares):
        raise InvalidValue(f"levels: each begins above the one before, not {', '.join(map(plain, shares))}")
    return {
        "level_from": [plain(share) for share in shares],
        "level_factor": [plain(factor) for factor in factors],
        "level_action": [str(action) for action in actions],
    }


_PARTS = {"from", "factor", "action"}


def _alerts(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or len(given) > MOST_ALERTS:
        raise InvalidValue(f"alerts: expected at most {MOST_ALERTS} severities by percent, as in 90: warning")
    found = sorted(
        (_share("alerts", share), _one_of(f"alerts.{share}", severity, SEVERITIES))
        for share, severity in given.items()
    )
    if any(not share for share, _ in found) or len({share for share, _ in found}) < len(found):
        raise InvalidValue("alerts: each percent above 0, once")
    return {"alert_at": [plain(share) for share, _ in found], "alert_severity": [said for _, said in found]}


def _share(field: str, value: object) -> Decimal:
    share = amount(value, field)
    if share > 1000:
        raise InvalidValue(f"{field}: expected percent from 0 to 1000, not {plain(share)[:40]}")
    return share


def _one_of(field: str, value: object, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value.casefold() not in allowed:
        raise InvalidValue(f"{field}: {str(value)[:40]!r} is none of: {', '.join(allowed)}")
    return str(value.casefold())


def _zone(value: object) -> str | None:
    if value is None:
        return None
    try:
        return zone(str(value)).key
    except ValueError as fault:
        raise InvalidValue(f"timezone: {fault}") from None


def _unit(value: object) -> str:
    if not isinstance(value, str) or not _UNIT.fullmatch(value):
        raise InvalidValue(
            f"unit: {str(value)[:40]!r} is no unit; use 1 to 16 letters and digits, such as USD or cents"
        )
    return value
