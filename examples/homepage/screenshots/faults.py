"""Gives what Chromium says of a failure one of our names."""

from __future__ import annotations

import socket

from playwright.async_api import Error

from examples.homepage.outbound.addresses import AddressRefused
from examples.homepage.screenshots.errors import CaptureError

_KINDS = (
    ("Page crashed", "page_crashed"),
    ("Target crashed", "page_crashed"),
    ("BrowserType.launch", "browser_failed"),
    ("has been closed", "browser_lost"),
    ("Connection closed", "browser_lost"),
    ("context was destroyed", "restless"),
    ("ERR_INVALID_AUTH_CREDENTIALS", "login_wanted"),
    ("ERR_TOO_MANY_REDIRECTS", "too_many_redirects"),
    ("ERR_CERT_", "certificate_invalid"),
    ("ERR_SSL_", "certificate_invalid"),
    ("Download is starting", "not_a_page"),
    ("ERR_ABORTED", "not_a_page"),
    ("ERR_INVALID_URL", "bad_address"),
    ("ERR_UNSAFE_PORT", "bad_address"),
)


def named(fault: Error, url: str, blamed: Exception | None = None, *, exceeded: bool = False) -> CaptureError:
    """`blamed`: why the proxy could not reach the host; `exceeded`: it has cut the page off."""
    said = fault.message.split("\n", 1)[0]
    kind = next((kind for words, kind in _KINDS if words in said), None)
    if kind is not None:
        return CaptureError(kind, url, said)
    if blamed is not None:
        return unreachable(url, blamed)
    return CaptureError("too_many_bytes" if exceeded else "navigation_failed", url, said)


def unreachable(url: str, fault: Exception) -> CaptureError:
    """A host without an address, with a private one, or that does not answer."""
    if isinstance(fault, AddressRefused):
        return CaptureError("address_refused", url, str(fault))
    if isinstance(fault, socket.gaierror | UnicodeError):
        return CaptureError("name_unknown", url, str(fault))
    return CaptureError("connection_failed", url, str(fault) or type(fault).__name__)
