"""In-app messages by Ably's REST API, which publishes a message of one id once."""

from __future__ import annotations

from urllib.parse import quote

import httpx

from examples.planner.messages.message import Message, taken
from examples.planner.settings import Settings


async def send_in_app(http: httpx.AsyncClient, settings: Settings, message: Message) -> str:
    """Publishes it on the account's channel; the message's id. Raises what `send_sms` does."""
    name, _, secret = settings.in_app_key.get_secret_value().partition(":")
    answer = await http.post(
        f"{settings.in_app_url}/channels/{quote('account:' + message.address, safe='')}/messages",
        json={"id": message.mark, "name": message.subject, "data": message.text},
        auth=(name, secret),
    )
    taken("in-app", answer)
    return str(answer.json()["messageId"])
