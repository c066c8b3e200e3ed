"""The weather of two services, in their shapes.

/points/LAT,LON                                  which grid a place is in; 301 for more than four decimals, 404 abroad
/gridpoints/OFFICE/X,Y/forecast/hourly?units=si  its hours
/alerts/active?point=LAT,LON                     what warnings there are
/v1/forecast?latitude=…&longitude=…              Open-Meteo's hours, for the whole world
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from examples.upstreams.nws.shapes import hours, open_meteo, problem
from examples.upstreams.rest import Request, RestServer

_POINT = re.compile(r"(-?\d+(?:\.\d{1,4})?),(-?\d+(?:\.\d{1,4})?)")
_GRID = re.compile(r"/gridpoints/([A-Z]{3})/(\d+),(\d+)/forecast/hourly")


class WeatherServer(RestServer):
    """Who sends no User-Agent with an address in it is answered 403.

    Attributes:
        begin: the first hour of every forecast.
        warmer: degrees that every forecast is above the first one.
        alerts: the features that are active, by place as `LAT,LON`.
        office: the office of all grids; another one, and the old grids are gone.
    """

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(port=port)
        self.begin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        self.warmer = 0
        self.alerts: dict[str, list[dict[str, Any]]] = {}
        self.office = "OKX"

    def respond(self, request: Request) -> tuple[int, Any]:
        """As the real services answer."""
        if request.path == "/v1/forecast":
            return 200, open_meteo(self.begin, self.warmer)
        if "http" not in request.headers.get("user-agent", ""):
            return 403, problem(403, "Forbidden")
        if request.path.startswith("/points/"):
            return self._point(request.path.removeprefix("/points/"))
        if request.path == "/alerts/active":
            found = self.alerts.get(request.query.get("point", ""), [])
            return 200, {"type": "FeatureCollection", "features": found, "title": "Current watches"}
        grid = _GRID.fullmatch(request.path)
        if grid is None or grid[1] != self.office:
            return 404, problem(404, "Not Found")
        return 200, hours(self.begin, self.warmer, si=request.query.get("units") == "si")

    def _point(self, text: str) -> tuple[int, Any]:
        found = _POINT.fullmatch(text)
        if found is None:
            return 301, problem(301, "Adjusting Precision Of Point Coordinate")
        latitude, longitude = map(float, found.groups())
        if not (17 < latitude < 72 and -180 < longitude < -60):
            return 404, problem(404, "Data Unavailable For Requested Point")
        grid = {"gridId": self.office, "gridX": round(latitude), "gridY": round(-longitude)}
        return 200, {"type": "Feature", "properties": grid | {"timeZone": "America/New_York"}}


def alert(number: int, *, until: datetime, **changed: Any) -> dict[str, Any]:
    """A feature of `/alerts/active`."""
    name = f"urn:oid:2.49.0.1.840.0.{number}"
    properties: dict[str, Any] = {
        "id": name, "areaDesc": "New York (Manhattan)", "sent": (until - timedelta(hours=3)).isoformat(),
        "effective": (until - timedelta(hours=3)).isoformat(), "onset": None, "expires": until.isoformat(),
        "ends": None, "status": "Actual", "messageType": "Alert", "severity": "Severe", "certainty": "Observed",
        "urgency": "Immediate", "event": "Tornado Warning", "headline": "Tornado Warning issued",
        "description": "At 3 PM a tornado was seen.", "instruction": "Take cover now.", "response": "Shelter",
    }  # fmt: skip
    return {
        "id": f"https://api.weather.gov/alerts/{name}",
        "type": "Feature",
        "properties": properties | changed,
    }
