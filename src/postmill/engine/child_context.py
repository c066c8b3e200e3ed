"""The context of a handler that runs in a child process: the same `Context`, with another way back to the worker."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from postmill.artifacts.storage import Storage
from postmill.domain.settings_artifacts import ArtifactSettings
from postmill.domain.workflow_told import told
from postmill.engine.child_link import ChildLink
from postmill.engine.context import Context, JobInfo
from postmill.engine.fence import Fence
from postmill.engine.resources import Resources
from postmill.engine.transaction import Transactions

_CONNECTIONS = (
    4  # a handler rarely has more than one transaction at a time; the pool opens none before it is asked
)


def make_context(spec: Mapping[str, Any], link: ChildLink, resources: Resources) -> Context:
    """The context, from the order that the worker sent (`ChildSpec.context`, conninfo and schema)."""
    given = spec["context"]
    info = TypeAdapter(JobInfo).validate_python(given)
    timeout = given.get("timeout")
    flow = given.get("workflow")
    return Context(
        info,
        fence=Fence(
            info.id,
            UUID(given["holder"]),
            int(given["claim_no"]),
            info.tenant_id,
            workflow_id=None if flow is None else UUID(flow["id"]),
        ),
        link=link,
        transactions=Transactions(spec["conninfo"], spec["schema"], _CONNECTIONS, prepared=spec["prepared"]),
        resources=resources,
        storage=Storage(ArtifactSettings.model_validate(spec["artifacts"])),
        deadline=None if timeout is None else datetime.now(UTC) + timedelta(seconds=timeout),
        workflow=None if flow is None else told(flow),
    )
