"""Where the API is, and the key for it: from arguments, else from the settings and the environment."""

from __future__ import annotations

import platform

import httpx

from postmill.domain.errors import SettingsError
from postmill.domain.settings_load import load
from postmill.version import VERSION

USER_AGENT = f"postmill/{VERSION} python/{platform.python_version()}"


def find_place(base_url: str | None, key: str | None) -> tuple[httpx.URL, dict[str, str]]:
    """The server's address, and the headers of every request.

    Raises:
        SettingsError: nothing names the server or the key, the address is none, or the settings cannot be read.
    """
    if base_url is None or key is None:
        found = load().api
        base_url = found.url if base_url is None else base_url
        key = found.key.get_secret_value() if key is None and found.key is not None else key
    if not base_url:
        raise SettingsError("where is the API? give base_url, or set api.url (POSTMILL_API__URL)")
    if not key:
        raise SettingsError("the API needs a key: give key, or set api.key (POSTMILL_API__KEY)")
    if not key.isascii() or not key.isprintable():
        raise SettingsError("api.key: a key is one line of ASCII, as `postmill keys create` printed it")
    return _checked(base_url), {"Authorization": f"Bearer {key}", "User-Agent": USER_AGENT}


def _checked(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as fault:
        raise SettingsError(f"api.url: {base_url!r} is no URL: {fault}") from None
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise SettingsError(
            f"api.url: expected http:// or https://, a host and perhaps a path, not {base_url!r}"
        )
    if url.path.rstrip("/").endswith("/api/v1"):
        raise SettingsError(f"api.url: leave out /api/v1 of {base_url!r}: name the server itself")
    return url
