"""The SQL functions that people and programs may call, their signatures out of the migrations."""

from __future__ import annotations

import re

from postmill.schema.migration import known_migrations

PUBLIC = {
    "enqueue": "One job; its id, or that of the live job under its key. Raises an error that explains a refusal.",
    "enqueue_many": "Many jobs by arrays, one row each: `n` is the position, `status` one of `created`, `duplicate`,"
    " `unknown_type`, `inactive`, `invalid` (`detail` says what), `other_type`, `busy`, `serialization`, and"
    " `incomplete`, `secret`, `unencrypted` where its definition asks for more. Raises for none of these.",
    "enqueue_intake": "Moves what COPY has laid into the table `intake` under this batch, in the same transaction.",
    "publish": "Writes an event in this transaction; a worker makes its jobs once that is committed. Its id. Raises an"
    " error for a name, a context or a tenant that cannot be.",
    "workflow": "Starts a workflow; its id, or that of the live one under its key. `steps` is a JSON array of objects with"
    " `name`, `job_type`, and where wanted `payload`, `after` (names of steps before it, or objects with `step` and"
    " `failure`), `parent_failure`, `compensate`, `priority`, `delay` (seconds), `scheduled_for`, `max_attempts`, `timeout`"
    " and `tags`. Raises an error that explains a refusal.",
    "start_workflow": "The same for a workflow or batch (`kind`) as one JSON object, with `status` and `detail` in place of an"
    " error.",
    "add_jobs": "Adds jobs, a JSON array as `steps` above, to an open batch; `total` is how many it has.",
    "seal_batch": "Says that no more jobs come: `sealed`, `already`, `unknown`.",
    "cancel_workflow": "Cancels the whole of a workflow or batch; `jobs` were still to end.",
    "retry_workflow": "Runs again what did not succeed, and what was canceled for its sake.",
    "release_steps": "Lets held steps go on; how many. NULL: there is no such workflow.",
    "cancel_jobs": "Ends jobs that wait (`canceled`), asks those that run (`requested`); `finished` had ended before,"
    " `unknown` is no job. `serialization`: above READ COMMITTED others were quicker; run the transaction again.",
    "retry_jobs": "A job that waits for its next attempt is `due` now; one that ended without success is replayed.",
    "replay_jobs": "Runs ended jobs again as new ones, with lineage: `replayed` (`new_id`), or why not. One that was"
    " replayed already needs `p_again`.",
    "discard_jobs": "Closes dead letters as failed.",
    "pause_queue": "Hands out no more jobs of a queue. False: there is no such queue.",
    "resume_queue": "Opens it again.",
    "register_job_types": "Puts job types on the list of those that may be enqueued, from a JSON array.",
    "job_type_names": "Names and aliases of active job types.",
    "job_state": "Where jobs are now, in the words of the life cycle.",
    "read_envelope": "A job and its envelope as one JSON object. NULL: there is no such job.",
    "read_idempotency_keys": "Idempotency keys, and where the jobs stand that hold them.",
    "budget_standing": "Where the budgets of a name stand in their present period that a tenant's jobs are under: its own, the"
    " platform's (without a tenant only that), or both. `level` is 1 to 4, of NORMAL, REDUCE, QUEUE, HARD_STOP; `label` names the"
    " period.",
    "read_budget_history": "The periods of a budget of the last so many months in which anything was reserved, the last first.",
    "read_budget_breakdown": "What a period's money went to (`p_label` NULL: the present one's), by `job_type`, `tenant` or"
    " `actor`, the most first. Corrections name no job type.",
    "read_budget_lines": "Lines of a period's ledger, the last first, before the one with the id `p_before`.",
    "limit_budget": "Gives one period of a budget a limit of its own, the present one (`p_period` NULL) or a later one, to its"
    " end or until a moment within it: `changed`, `unchanged`, `unknown`, `over` (the period has ended), `no_period`, `past`"
    " (that moment is over), `late` (it is after the period). Audited.",
    "correct_budget": "Appends a correcting line to the ledger of a period (`p_period` NULL: the present one), a negative amount"
    " for what was booked too much: `corrected`, `unknown`, `no_period` or `below_zero`. Audited.",
    "grant_worker": "Gives a role what a worker needs.",
    "grant_server": "Gives a role what an HTTP server needs: to find out who asks, and to begin his request.",
    "set_actor": "Says for the rest of the transaction whom the audit log names: by `api`, `console`, `cli` or `sql`.",
    "grant_application": "Gives a role what an application needs to enqueue, cancel and look after its jobs.",
    "scope_tenant": "The tenant that this transaction is kept to (`postmill.tenant_id`); NULL where none is named.",
    "sees_all": "Whether this transaction sees every tenant; anybody may ask.",
    "now": "The clock that decides: the database's, shifted by the setting `postmill.clock_offset` in tests.",
    "new_id": "A new id, UUID version 7: ids sort by the moment of their making.",
    "id_at": "The smallest id of a moment: turns a range of time into a range of ids.",
    "id_time": "The moment at which an id was made.",
}


def functions() -> str:
    """Signature, answer and meaning of each."""
    text = "\n".join(migration.sql("postmill") for migration in known_migrations())
    return "\n".join(f"### {name}\n\n{_signature(name, text)}\n\n{about}\n" for name, about in PUBLIC.items())


def _signature(name: str, text: str) -> str:
    found = re.findall(
        rf"create function postmill\.{name}\((.*?)\)\s*(?:returns (.*?)\s*)?language", text, re.DOTALL
    )
    assert found, f"no migration creates {name}"
    arguments, answer = found[-1]
    listed = [" ".join(part.split()) for part in arguments.split(",") if part.strip()]
    body = "".join(f"\n    {part}," for part in listed).rstrip(",")
    return f"```text\npostmill.{name}({body}{chr(10) if listed else ''}) returns {' '.join(answer.split()) or 'record'}\n```"
