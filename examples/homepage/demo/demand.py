"""What people ask for: job types that run on demand, and where the payload of the next one comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from PIL import Image
from psycopg import Connection

from examples.homepage.demo.data import rows
from examples.homepage.job_types import JobType


@dataclass(frozen=True, slots=True)
class Asking:
    """One request: `number` counts those of a portal, from 1; `told` is where stand-ins and folders are, by variable."""

    conn: Connection[Any]
    portal: str
    number: int
    told: Mapping[str, str]

    def listing(self) -> str:
        """What the portal's seller sells."""
        [row] = rows(self.conn, "listing", portal=self.portal)
        return str(row["id"])


def _message(asking: Asking) -> dict[str, object]:
    [row] = rows(
        asking.conn, "ask_message", portal=asking.portal, number=asking.number, listing=asking.listing()
    )
    return {"message_id": row["id"]}


def _image(asking: Asking) -> dict[str, object]:
    id, data = uuid4(), BytesIO()
    Image.linear_gradient("L").resize((1600, 1200)).convert("RGB").save(data, "JPEG")
    upload = Path(asking.told["IMAGE_FOLDER"]) / "uploads" / str(id)
    upload.parent.mkdir(parents=True, exist_ok=True)
    upload.write_bytes(data.getvalue())
    checksum = sha256(data.getvalue()).hexdigest()
    values = {"id": str(id), "bytes": len(data.getvalue()), "checksum": checksum}
    [row] = rows(asking.conn, "ask_image", listing=asking.listing(), **values)
    return {"image_id": row["id"]}


def _screenshot(asking: Asking) -> dict[str, object]:
    url = f"{asking.told['DEMO_PAGES']}/good?{asking.portal}={asking.number}"
    title = f"{asking.portal}: site {asking.number}"
    [row] = rows(asking.conn, "ask_site", url=url, host=urlsplit(url).netloc, title=title)
    return {"site_id": row["id"]}


DEMAND: Mapping[JobType, Callable[[Asking], dict[str, object]]] = {
    JobType.MESSAGE_RELAY: _message,
    JobType.IMAGE_PROCESSING: _image,
    JobType.SCREENSHOT_CAPTURE: _screenshot,
}
"""The payload of a request."""
