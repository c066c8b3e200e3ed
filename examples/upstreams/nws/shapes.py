"""Forecasts and errors in the shapes of the real services."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

HOURS = 24


def hours(begin: datetime, warmer: int, *, si: bool) -> dict[str, Any]:
    """An hourly forecast of the National Weather Service."""
    periods = [
        {
            "number": number + 1, "name": "", "isDaytime": True,
            "startTime": (begin + timedelta(hours=number)).isoformat(),
            "endTime": (begin + timedelta(hours=number + 1)).isoformat(),
            "temperature": 10 + warmer if si else 50 + 2 * warmer, "temperatureUnit": "C" if si else "F",
            "probabilityOfPrecipitation": {"unitCode": "wmoUnit:percent", "value": None if number else 40},
            "windSpeed": "10 to 15 km/h" if si else "5 to 10 mph", "windDirection": "NW",
            "shortForecast": "Chance Light Rain", "detailedForecast": "",
        }
        for number in range(HOURS)
    ]  # fmt: skip
    return {"type": "Feature", "properties": {"units": "si" if si else "us", "periods": periods}}


def open_meteo(begin: datetime, warmer: int) -> dict[str, Any]:
    """An hourly forecast of Open-Meteo: an array for each variable."""
    return {
        "latitude": 52.52, "longitude": 13.419998, "utc_offset_seconds": 0, "timezone": "GMT",
        "hourly_units": {"time": "unixtime", "temperature_2m": "°C", "wind_speed_10m": "km/h"},
        "hourly": {
            "time": [int((begin + timedelta(hours=n)).timestamp()) for n in range(HOURS)],
            "temperature_2m": [4.5 + warmer] * HOURS,
            "precipitation_probability": [20, *[None] * (HOURS - 1)],
            "weather_code": [61] * HOURS,
            "wind_speed_10m": [12.3] * HOURS,
        },
    }  # fmt: skip


def problem(status: int, title: str) -> dict[str, Any]:
    """An error of the National Weather Service."""
    return {
        "correlationId": "1a2b3c",
        "title": title,
        "type": "about:blank",
        "status": status,
        "detail": title,
    }
