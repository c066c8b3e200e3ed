"""SMS by Twilio's API."""

from __future__ import annotations

import httpx

from examples.planner.messages.message import Message, taken
from examples.planner.settings import Settings


async def send_sms(http: httpx.AsyncClient, settings: Settings, message: Message) -> str:
    """Sends it; the provider's id. Raises NotNow, Undeliverable, httpx.HTTPError; ValueError, KeyError for garbage."""
    account = settings.sms_account
    answer = await http.post(
        f"{settings.sms_url}/2010-04-01/Accounts/{account}/Messages.json",
        data={"To": message.address, "From": settings.sms_from, "Body": message.text},
        auth=(account, settings.sms_token.get_secret_value()),
    )
    taken("sms", answer)
    return str(answer.json()["sid"])
