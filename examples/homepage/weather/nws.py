"""The National Weather Service: a point is in a grid, a grid has hours; and what is warned of at a point."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from examples.homepage.outbound.services import Service, ServiceError

NAME = "nws"

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_OFFICE = re.compile(r"[A-Z]{3}")


class WeatherService:
    """api.weather.gov. It answers 403 to whoever does not say by User-Agent who asks."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def grid(self, latitude: str, longitude: str) -> str:
        """Where a place is, as `OKX/33,37`. The addresses in the answer are not followed, but made of it."""
        found = await self._service.json(f"/points/{_short(latitude)},{_short(longitude)}")
        try:
            point = found["properties"]
            if not _OFFICE.fullmatch(point["gridId"]):
                raise ValueError
            return f"{point['gridId']}/{int(point['gridX'])},{int(point['gridY'])}"
        except (KeyError, TypeError, ValueError):
            raise ServiceError(NAME, "garbage") from None

    async def hours(self, grid: str) -> list[dict[str, Any]]:
        """The forecast of a grid, hour by hour."""
        found = await self._service.json(f"/gridpoints/{grid}/forecast/hourly", params={"units": "si"})
        try:
            return [_hour(period) for period in found["properties"]["periods"]]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ServiceError(NAME, "garbage") from None

    async def alerts(self, latitude: str, longitude: str) -> list[dict[str, Any]]:
        """What a place is warned of now, without exercises and without what was called off."""
        point = f"{_short(latitude)},{_short(longitude)}"
        found = await self._service.json("/alerts/active", params={"point": point})
        try:
            told = [feature["properties"] for feature in found["features"]]
            alerts = [
                _alert(one) for one in told if one["status"] == "Actual" and one["messageType"] != "Cancel"
            ]
        except (KeyError, TypeError, AttributeError):
            raise ServiceError(NAME, "garbage") from None
        return list({alert["alert_id"]: alert for alert in alerts}.values())


def _short(coordinate: str) -> str:
    """Without zeros at the end: other forms are redirected."""
    return coordinate.rstrip("0").rstrip(".") if "." in coordinate else coordinate


def _hour(period: Mapping[str, Any]) -> dict[str, Any]:
    temperature = float(period["temperature"])
    winds = [float(text) for text in _NUMBER.findall(period.get("windSpeed") or "")]
    factor = 1.609344 if (period.get("windSpeed") or "").endswith("mph") else 1.0
    return {
        "starts_at": period["startTime"],
        "temperature_c": temperature if period["temperatureUnit"] == "C" else (temperature - 32) / 1.8,
        "wind_kmh": max(winds) * factor if winds else None,
        "precipitation_percent": (period.get("probabilityOfPrecipitation") or {}).get("value"),
        "summary": str(period["shortForecast"]),
    }


def _alert(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "alert_id": str(told["id"]),
        "event": str(told["event"]),
        "severity": told.get("severity") or "Unknown",
        "headline": told.get("headline") or str(told["event"]),
        "description": told.get("description") or "",
        "instruction": told.get("instruction") or "",
        "onset_at": told.get("onset") or told.get("effective"),
        "expires_at": told.get("ends") or told["expires"],
    }
