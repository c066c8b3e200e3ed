"""What Alpha Vantage answers: with status 200 whatever happens, numbers as text, and limits as a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from examples.homepage.outbound.services import ServiceError

SERVICE = "alphavantage"


class Limited(Exception):
    """Not now. `day`: there are no more today; else it was too quick. The note itself is not kept: the key is in it."""

    def __init__(self, *, day: bool) -> None:
        super().__init__("no more requests today" if day else "too many requests at once")
        self.day = day


class UnknownSymbol(Exception):
    """The service has no quote of the symbol."""


class KeyRefused(Exception):
    """The API key is wrong: to try again is of no use."""

    retryable = False


@dataclass(frozen=True, slots=True)
class Quote:
    """A price, in the currency of the exchange."""

    price: Decimal
    change: Decimal
    change_percent: Decimal
    previous_close: Decimal
    volume: int
    trading_day: date


def quote_of(answer: Mapping[str, Any]) -> Quote:
    """Raises Limited, UnknownSymbol, KeyRefused, or ServiceError for what is no quote."""
    note = answer.get("Note") or answer.get("Information")
    if note is not None:
        raise Limited(day="per day" in str(note))
    message = answer.get("Error Message")
    if message is not None:
        if "apikey" in str(message):
            raise KeyRefused("the service does not know our API key: see ALPHAVANTAGE_API_KEY")
        raise UnknownSymbol("the service does not know the symbol")
    found = answer.get("Global Quote")
    if found == {}:
        raise UnknownSymbol("the service has no quote of the symbol")
    try:
        if not isinstance(found, dict):
            raise TypeError
        return Quote(
            price=_number(found, "05. price"),
            change=_number(found, "09. change"),
            change_percent=_number(found, "10. change percent"),
            previous_close=_number(found, "08. previous close"),
            volume=int(found["06. volume"]),
            trading_day=date.fromisoformat(found["07. latest trading day"]),
        )
    except (InvalidOperation, KeyError, TypeError, ValueError, AttributeError):
        raise ServiceError(SERVICE, "garbage") from None


def _number(found: Mapping[str, str], name: str) -> Decimal:
    number = Decimal(found[name].removesuffix("%"))
    if not number.is_finite():
        raise ValueError(name)
    return number
