"""What HTTP says, in words of feeds."""

from __future__ import annotations

import httpx

from examples.homepage.outbound.addresses import AddressRefused
from examples.homepage.outbound.bounded import TooLarge
from examples.homepage.rss.errors import FeedError

TIMEOUT = "HttpTimeoutException"


def of_response(response: httpx.Response) -> FeedError:
    """The error of an answer that is no feed."""
    status = response.status_code
    why = f"the server answered {status} {response.reason_phrase}".rstrip()
    return FeedError(
        f"http_{status}",
        why,
        status=status if status >= 400 else None,
        retry_after=response.headers.get_list("Retry-After"),
    )


def of_fault(fault: Exception) -> FeedError:
    """The error of a request that got no whole answer."""
    if isinstance(fault, TimeoutError | httpx.TimeoutException):
        return FeedError(TIMEOUT, f"no whole answer in time ({type(fault).__name__})")
    kinds: tuple[tuple[type[Exception], str], ...] = (
        (AddressRefused, "address_refused"),
        (TooLarge, "too_large"),
        (httpx.TooManyRedirects, "too_many_redirects"),
        (httpx.UnsupportedProtocol, "unsupported_url"),
        (httpx.InvalidURL, "unsupported_url"),
    )
    for kind, error_type in kinds:
        if isinstance(fault, kind):
            return FeedError(error_type, str(fault))
    return FeedError("connection_error", str(fault) or type(fault).__name__)
