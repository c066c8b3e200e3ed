"""The control plane by HTTP, as a person with an API key has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import httpx


class ApiRefused(Exception):
    """The API did not do it; the message has its problem document."""


class Control:
    """One key's view. Raises ApiRefused."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(
            base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {key}"}, timeout=30.0
        )

    def get(self, path: str, **params: Any) -> Any:
        """One document."""
        return self._answer(self._http.get(path, params=params))

    def post(self, path: str, body: Any = None) -> Any:
        """What was made."""
        return self._answer(self._http.post(path, json=body))

    def patch(self, path: str, body: Any) -> Any:
        """What was changed."""
        return self._answer(self._http.patch(path, json=body))

    def delete(self, path: str) -> None:
        """Take something away."""
        self._answer(self._http.delete(path))

    def every(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """All items of a list, page after page."""
        cursor: dict[str, str] = {}
        while True:
            page = self.get(path, **params, **cursor)
            yield from page["items"]
            if page["next"] is None:
                return
            cursor = {"cursor": page["next"]}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @staticmethod
    def _answer(answer: httpx.Response) -> Any:
        if not answer.is_success:
            raise ApiRefused(
                f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text}"
            )
        return answer.json() if answer.content else None
