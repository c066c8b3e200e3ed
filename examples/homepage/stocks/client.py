"""Asks Alpha Vantage for quotes."""

from __future__ import annotations

from collections.abc import AsyncIterator

from examples.homepage.outbound.services import Service
from examples.homepage.settings import from_environment as site_settings
from examples.homepage.stocks.quote import SERVICE, KeyRefused, Quote, quote_of
from examples.homepage.stocks.settings import StockSettings, from_environment
from postmill import resource


class AlphaVantage:
    """`spacing`: seconds that a caller waits between two requests."""

    def __init__(self, service: Service, settings: StockSettings) -> None:
        self._service = service
        self._key = settings.api_key
        self.spacing = settings.spacing

    def check(self) -> None:
        """Raises KeyRefused where there is no key to ask with."""
        if self._key is None:
            raise KeyRefused("there is no API key: see ALPHAVANTAGE_API_KEY")

    async def quote(self, symbol: str) -> Quote:
        """The quote of a symbol. Raises as `quote_of`, and ServiceError."""
        key = "" if self._key is None else self._key.get_secret_value()
        params = {"function": "GLOBAL_QUOTE", "symbol": symbol, "apikey": key}
        return quote_of(await self._service.json("/query", params=params))


@resource
async def quotes() -> AsyncIterator[AlphaVantage]:
    """The client of a worker process."""
    settings, agent = from_environment(), site_settings().user_agent
    async with Service(SERVICE, settings.base_url, user_agent=agent, timeout=settings.timeout) as service:
        yield AlphaVantage(service, settings)
