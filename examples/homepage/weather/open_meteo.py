"""Open-Meteo: forecasts of the whole world, without a key; warnings it has none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from examples.homepage.outbound.services import Service, ServiceError

NAME = "open_meteo"
HOURLY = ("temperature_2m", "precipitation_probability", "weather_code", "wind_speed_10m")

# Codes of the World Meteorological Organization, the first of each kind.
_SKIES = {
    0: "Clear", 1: "Mostly clear", 2: "Partly cloudy", 3: "Overcast", 45: "Fog", 51: "Drizzle", 61: "Rain", 71: "Snow",
    80: "Rain showers", 85: "Snow showers", 95: "Thunderstorm",
}  # fmt: skip


class OpenMeteo:
    """api.open-meteo.com."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def hours(self, latitude: str, longitude: str) -> list[dict[str, Any]]:
        """The forecast of a place, hour by hour, for three days."""
        found = await self._service.json(
            "/v1/forecast",
            params={
                "latitude": latitude, "longitude": longitude, "hourly": ",".join(HOURLY), "timeformat": "unixtime",
                "forecast_days": 3,
            },
        )  # fmt: skip
        try:
            hourly = found["hourly"]
            columns = zip(hourly["time"], *(hourly[name] for name in HOURLY), strict=True)
            return [_hour(*column) for column in columns if column[1] is not None]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ServiceError(NAME, "garbage") from None


def _hour(
    time: int, temperature: float, rain: int | None, code: int | None, wind: float | None
) -> dict[str, Any]:
    return {
        "starts_at": datetime.fromtimestamp(time, UTC).isoformat(),
        "temperature_c": float(temperature),
        "wind_kmh": wind,
        "precipitation_percent": rain,
        "summary": _sky(code),
    }


def _sky(code: int | None) -> str:
    """The nearest kind at or below a code."""
    return "" if code is None or code < 0 else _SKIES[max(known for known in _SKIES if known <= code)]
