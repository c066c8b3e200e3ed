"""Asks the model, by the client that its makers keep: one question, one request, one time to wait."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import httpx2

from examples.homepage.tagging.bounded import bounded
from examples.homepage.tagging.errors import ItemFailed, Refused, TooBusy
from examples.homepage.tagging.prompt import SYSTEM
from examples.homepage.tagging.service import Answer
from examples.homepage.tagging.settings import TaggingSettings

_BUSY = (429, 529)
_OF_THE_ITEM = (400, 413, 422)
_MOST_TOKENS = 10_000_000


def client_of(settings: TaggingSettings) -> anthropic.AsyncAnthropic:
    """The client. It tries nothing again by itself: each request is one reservation of the budget."""
    if settings.api_key is None:
        raise Refused(401, "there is no ANTHROPIC_API_KEY")
    return anthropic.AsyncAnthropic(
        api_key=settings.api_key.get_secret_value(),
        base_url=settings.base_url,
        timeout=settings.timeout,
        max_retries=0,
        default_headers={"Accept-Encoding": "identity"},
        http_client=anthropic.DefaultAsyncHttpxClient(event_hooks={"response": [bounded]}),
    )


async def ask(client: anthropic.AsyncAnthropic, settings: TaggingSettings, prompt: str) -> Answer:
    """One answer. Raises ItemFailed, TooBusy, Refused."""
    try:
        # The client's own time is for each read; a body that drips would hold us as long as it likes.
        async with asyncio.timeout(settings.timeout):
            message = await client.messages.create(
                model=settings.model,
                max_tokens=settings.max_tokens,
                system=SYSTEM,
                messages=[{"role": "user", "content": prompt}],
                # No argument of the client's any more: newer models take none.
                extra_body=None if settings.temperature is None else {"temperature": settings.temperature},
            )
    except (TimeoutError, anthropic.APITimeoutError):
        raise ItemFailed(f"no answer within {settings.timeout:g} s", billed=True) from None
    except anthropic.APIStatusError as error:
        raise _of_status(error) from error
    except anthropic.APIConnectionError as error:
        unheard = isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout)
        raise ItemFailed(f"connection: {error.__cause__ or error}", billed=not unheard) from error
    except (anthropic.APIError, httpx2.HTTPError, ValueError, RecursionError) as error:
        raise ItemFailed(f"no answer that can be read: {type(error).__name__}", billed=True) from error
    return _read(message)


def _of_status(error: anthropic.APIStatusError) -> Exception:
    status = error.status_code
    if status in _BUSY:
        return TooBusy(status, error.response.headers.get_list("retry-after"))
    if status in _OF_THE_ITEM or status >= 500:
        return ItemFailed(f"http_{status}", billed=False)
    return Refused(status, error.message[:200])


def _read(message: Any) -> Answer:
    """Of 200: the client checks no shape, so a page of a proxy's gets here as a text."""
    try:
        usage = message.usage
        read, written = (
            int(usage.input_tokens + (usage.cache_read_input_tokens or 0)),
            int(usage.output_tokens),
        )
        text = "".join(block.text for block in message.content if block.type == "text")
        if not (0 <= read <= _MOST_TOKENS and 0 <= written <= _MOST_TOKENS):
            raise ValueError("nobody has used so many tokens")
        return Answer(text, message.stop_reason, read, written)
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise ItemFailed("no answer that can be read: no message", billed=True) from None
