"""What was changed lately, on Now: by names that people gave, and what came one after the other as one line."""

from __future__ import annotations

import pytest

from postmill.bind import adrive
from postmill.domain.access import Role
from postmill.operate import triggers
from postmill.operate.keys import create_key
from tests.console.harness import Console
from tests.console.outage import do
from tests.console.test_now import page

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_triggers_keys_and_workers_are_told_by_name(console: Console) -> None:
    api = console.api
    for name in ("a", "b", "c"):
        await api.define(name, queue="q")
    acme = await api.tenant("acme")
    fields = {
        "label": "Nightly",
        "trigger_type": "schedule",
        "every": "1h",
        "definition_key": "a",
        "payload_template": {},
    }
    trigger = (await adrive(api.owner, triggers.create(fields, tenant=acme))).trigger.id
    key = await adrive(api.owner, create_key("deploys", Role.SUPER_ADMIN))
    await do(api, "select set_config('postmill.actor_id', %s, false)", str(key.id))
    for _ in range(3):
        await do(api, "select postmill.audit('triggers.run', 'trigger', %s)", str(trigger))
    await do(
        api,
        "select postmill.audit('workers.stop', 'worker', 'vm:21422:d32e00b9-86e8-4e05-86ae-2f789970e8ee')",
    )
    await do(api, "select set_config('postmill.actor_id', '', false)")
    told = (await page(console, "/ops?_part=changes")).text
    assert "Trigger run by hand Nightly and 2 more deploys" in told
    assert "Worker asked to stop vm pid 21422 deploys" in told
    assert str(key.id) not in told
    assert told.count("Deployed") == 1
    assert "v1 and 2 more" in told
