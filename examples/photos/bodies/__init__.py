"""The bodies of the requests that set the application up, as they go to the API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
Body = dict[str, Any]


def definitions() -> list[Body]:
    """For `POST /api/v1/admin/jobs/definitions`, by a super admin."""
    return _read("definitions.json")


def triggers() -> list[Body]:
    """For `POST /api/v1/jobs/triggers`, by each tenant's admin."""
    return _read("triggers.json")


def for_nightly_syncs(definition: Body) -> Body:
    """What `PATCH /api/v1/admin/jobs/definitions/{id}` needs to let the nightly schedule work, which names no provider."""
    schema = {name: value for name, value in definition["arg_schema"].items() if name != "required"}
    return {"arg_schema": schema}


def _read(name: str) -> list[Body]:
    found: list[Body] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return found
