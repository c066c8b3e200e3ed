"""`GET /query?function=GLOBAL_QUOTE&symbol=…&apikey=…`, answered with status 200 whatever happens, as there."""

from __future__ import annotations

from typing import Any

from examples.upstreams.rest import Request, RestServer

KEY = "KEY-OF-THE-STAND-IN"

SPENT = (
    "We have detected your API key as {key} and our standard API rate limit is {most} requests per day. "
    "Please subscribe to any of the premium plans to instantly remove all daily rate limits."
)
TOO_QUICK = (
    "Thank you for using Alpha Vantage! Please consider spreading out your free API requests more sparingly "
    "(1 request per second)."
)
WRONG_KEY = "the parameter apikey is invalid or missing. Please claim your free API key."


class AlphaVantageServer(RestServer):
    """Symbols that begin with `NONE` are unknown there.

    Attributes:
        key: what callers must send.
        most: requests that are still answered with a quote; None for any number.
        notes: (field, text) that come in place of quotes, first one first.
        quoted: symbols in the order of their quotes.
    """

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(port=port)
        self.key = KEY
        self.most: int | None = None
        self.notes: list[tuple[str, str]] = []
        self.quoted: list[str] = []

    def respond(self, request: Request) -> tuple[int, Any]:
        """As the real service answers."""
        if request.path != "/query":
            return 404, {}
        query = request.query
        if query.get("apikey") != self.key:
            return 200, {"Error Message": WRONG_KEY}
        if self.notes:
            field, text = self.notes.pop(0)
            return 200, {field: text}
        if self.most is not None and len(self.quoted) >= self.most:
            return 200, {"Information": SPENT.format(key=self.key, most=self.most)}
        symbol = query.get("symbol", "")
        if query.get("function") != "GLOBAL_QUOTE" or not symbol:
            return 200, {"Error Message": "Invalid API call. Please retry or visit the documentation."}
        self.quoted.append(symbol)
        return 200, {"Global Quote": {} if symbol.startswith("NONE") else quote(symbol, len(self.quoted))}


def quote(symbol: str, number: int) -> dict[str, str]:
    """A quote in the real shape: numbered names, numbers as text."""
    price = 100 + number
    return {
        "01. symbol": symbol,
        "02. open": "100.0000",
        "03. high": f"{price + 1}.0000",
        "04. low": "99.0000",
        "05. price": f"{price}.2500",
        "06. volume": "3191840",
        "07. latest trading day": "2026-11-27",
        "08. previous close": "100.0000",
        "09. change": f"{number}.2500",
        "10. change percent": f"{number}.2500%",
    }
