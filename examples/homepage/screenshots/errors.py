"""What goes wrong with a capture. None of it is a fault of the worker."""

from __future__ import annotations

PERMANENT = frozenset({"address_refused", "bad_address"})
"""Kinds that another attempt cannot change."""


class CaptureError(Exception):
    """A page could not be captured. The message names it, so that whoever is told can look at it himself.

    Attributes:
        kind: what it was:
            `bad_address` neither http nor https · `name_unknown` · `address_refused` not a public one ·
            `connection_failed` · `certificate_invalid` · `navigation_timeout` no answer in time · `http_404` … a page that
            says that it is none · `login_wanted` · `too_many_redirects` · `restless` it goes elsewhere all the time ·
            `not_a_page` a download, or nothing at all · `too_many_bytes` · `navigation_failed` anything else that Chromium
            says · `capture_timeout` no picture in time · `page_crashed` · `browser_lost` · `browser_failed` it did not start.
        url: of the page that was asked for.
        retryable: whether another attempt may do better.
        retry_after: the server's headers of this name; the next attempt waits for as long as they say.
    """

    def __init__(self, kind: str, url: str, why: str, *, retry_after: list[str] | None = None) -> None:
        super().__init__(f"{kind}: {url}: {why}")
        self.kind = kind
        self.url = url
        self.retryable = kind not in PERMANENT
        self.retry_after = retry_after or None
