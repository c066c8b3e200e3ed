"""The worker beside a server, in `postmill up`: one port tells of both."""

from __future__ import annotations

from typing import Any

import httpx
from fastapi import FastAPI

PATIENCE = 5.0


class Worker:
    """Where that worker answers /metrics and /readyz, on this machine only."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def metrics(self) -> bytes:
        """Its page; empty while it is being started anew."""
        answer = await self._get("/metrics")
        return answer.content if answer is not None and answer.status_code == 200 else b""

    async def readiness(self) -> dict[str, Any]:
        """What it says of itself."""
        answer = await self._get("/readyz")
        if answer is None:
            return {"ready": False, "reason": "the worker does not answer"}
        found: dict[str, Any] = answer.json()
        return found

    async def _get(self, path: str) -> httpx.Response | None:
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
            try:
                return await client.get(self._url + path)
            except httpx.HTTPError:
                return None


def worker_of(app: FastAPI) -> Worker | None:
    """The worker beside this application; None where it stands alone."""
    found: Worker | None = getattr(app.state, "worker", None)
    return found
