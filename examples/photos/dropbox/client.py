"""A client of list_folder, its cursor, and download. It waits as long as it is told to, a few times."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import httpx

from examples.photos.dropbox.content_hash import content_hash
from examples.photos.dropbox.errors import (
    CursorReset,
    DropboxError,
    NotFound,
    Refused,
    Unauthorized,
    Unavailable,
)

ATTEMPTS = 5
FIRST_WAIT = 0.4
"""Seconds until the second attempt where nobody says how long to wait; each wait after it is twice as long."""

LONGEST_WAIT = 60.0
"""Seconds for which a call waits at most between two attempts; who asks for more is told that it is unavailable."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a listing. `cursor` is where the next one begins, also when there is none yet."""

    entries: list[dict[str, Any]]
    cursor: str
    has_more: bool


class Dropbox:
    """One account's files, read with its token. Threads may share it."""

    def __init__(self, token: str, *, api_url: str, content_url: str, page: int = 200) -> None:
        self._api, self._content, self._page = api_url, content_url, page
        self._http = httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=30.0)

    def list_folder(self, path: str) -> Page:
        """The first page of a folder (`""` is the root), with all that is below it. Raises DropboxError."""
        return self._listed("list_folder", {"path": path, "recursive": True, "limit": self._page})

    def go_on(self, cursor: str) -> Page:
        """The next page, or what has changed since. Raises DropboxError, CursorReset among them."""
        return self._listed("list_folder/continue", {"cursor": cursor})

    def latest_cursor(self, path: str) -> str:
        """A cursor from which on only changes are told. Raises DropboxError."""
        asked = {"path": path, "recursive": True, "limit": self._page}
        return str(
            self._call(f"{self._api}/2/files/list_folder/get_latest_cursor", json=asked).json()["cursor"]
        )

    def download(self, entry: Mapping[str, Any]) -> bytes:
        """The content of a listed file; Unavailable where it is not the listed one any more. Raises DropboxError."""
        argument = json.dumps({"path": entry["id"]})
        url = f"{self._content}/2/files/download"
        content = self._call(url, headers={"Dropbox-API-Arg": argument}).content
        if content_hash(content) != entry["content_hash"]:
            raise Unavailable(
                f"{entry['name']}: its content is not what was listed; it has changed since, or broke"
            )
        return content

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _listed(self, endpoint: str, asked: Mapping[str, Any]) -> Page:
        told = self._call(f"{self._api}/2/files/{endpoint}", json=asked).json()
        return Page(told["entries"], told["cursor"], told["has_more"])

    def _call(self, url: str, **request: Any) -> httpx.Response:
        for attempt in range(1, ATTEMPTS + 1):
            wait = FIRST_WAIT * 2 ** (attempt - 1)
            try:
                answer = self._http.post(url, **request)
            except httpx.TransportError as fault:
                said = f"{type(fault).__name__}: {fault}"
            else:
                if answer.is_success:
                    return answer
                if answer.status_code != 429 and answer.status_code < 500:
                    raise _refusal(answer)
                said = f"{answer.status_code} {_summary(answer)}"
                wait = _retry_after(answer, wait)
            if attempt == ATTEMPTS or wait > LONGEST_WAIT:
                break
            time.sleep(wait)
        raise Unavailable(f"{url}: {said}")


def _retry_after(answer: httpx.Response, otherwise: float) -> float:
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return otherwise


def _refusal(answer: httpx.Response) -> DropboxError:
    said = f"{answer.status_code} {_summary(answer)}"
    if answer.status_code == 401 or (answer.status_code == 400 and "Authorization" in answer.text):
        return Unauthorized(said)
    if answer.status_code == 409 and _summary(answer).startswith("reset/"):
        return CursorReset(said)
    if answer.status_code == 409 and _summary(answer).startswith("path/not_found"):
        return NotFound(said)
    return Refused(said)


def _summary(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error_summary"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:500]
