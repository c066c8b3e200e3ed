"""Both services, each asked for what it has."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import NamedTuple

from examples.homepage.outbound.services import Service
from examples.homepage.settings import from_environment as site_settings
from examples.homepage.weather import nws, open_meteo
from examples.homepage.weather.settings import from_environment
from postmill import resource


class Sky(NamedTuple):
    """The clients of a worker process."""

    nws: nws.WeatherService
    open_meteo: open_meteo.OpenMeteo


@resource
async def sky() -> AsyncIterator[Sky]:
    """The clients of a worker process."""
    settings, agent = from_environment(), site_settings().user_agent
    async with (
        Service(nws.NAME, settings.nws_url, user_agent=agent, timeout=settings.timeout) as of_usa,
        Service(
            open_meteo.NAME, settings.open_meteo_url, user_agent=agent, timeout=settings.timeout
        ) as of_world,
    ):
        yield Sky(nws.WeatherService(of_usa), open_meteo.OpenMeteo(of_world))
