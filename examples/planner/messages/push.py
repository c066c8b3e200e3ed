"""Push by Expo's API."""

from __future__ import annotations

import httpx

from examples.planner.messages.message import Message, NotNow, Undeliverable, taken
from examples.planner.settings import Settings

GONE = "DeviceNotRegistered"


async def send_push(http: httpx.AsyncClient, settings: Settings, message: Message) -> str:
    """Sends it; the ticket's id.

    Raises:
        Undeliverable: refused, or the device is gone.
        NotNow, httpx.HTTPError; ValueError, KeyError for garbage.
    """
    token = settings.push_token.get_secret_value()
    answer = await http.post(
        f"{settings.push_url}/--/api/v2/push/send",
        json={"to": message.address, "title": message.subject, "body": message.text},
        headers={"Authorization": f"Bearer {token}"} if token else {},
    )
    taken("push", answer)
    ticket = answer.json()["data"]
    if ticket["status"] != "ok":
        error = (ticket.get("details") or {}).get("error")
        if error == GONE:
            raise Undeliverable(f"the device is gone: {GONE}")
        raise NotNow(f"push: the ticket says {error or 'error'}")
    return str(ticket["id"])
