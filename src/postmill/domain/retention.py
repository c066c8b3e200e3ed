"""What is kept for how long: the subjects that rules speak of, and the retention of each table.

Source: the design's "Retention and archive" and "Dead letters"; seed 4, section 5 (30 days, cold archive, 90 days).
"""

from __future__ import annotations

from collections.abc import Mapping

from postmill.domain.errors import InvalidValue
from postmill.domain.suggest import did_you_mean

SUBJECTS: Mapping[str, str] = {
    "succeeded": "jobs that succeeded",
    "failed": "jobs that failed",
    "canceled": "jobs that were canceled",
    "archive_after": "dead letters, until they go to the cold archive",
    "dead_letter": "dead letters, in the cold archive, too",
    "archive": "history in the cold archive; of a tenant, 0: nothing of it goes there",
    "events": "events, their deliveries, ticks and messages of webhooks",
    "audit": "the audit log",
    "incidents": "resolved incidents and their notifications",
    "budgets": "lines of budgets",
    "operations": "ended bulk operations",
    "error_groups": "groups of errors, after they were last seen",
    "rollup_minutes": "rollups by the minute",
    "rollups": "rollups by the hour",
}
"""What a rule may be about, and what that is."""

OF_TENANTS = frozenset({"succeeded", "failed", "canceled", "archive_after", "dead_letter", "archive"})
"""Those that a tenant may have a rule of its own for."""

NEVER_FOR_EVER = frozenset({"succeeded", "failed", "canceled", "archive_after"})

LEAST = 3600.0
"""Seconds: the shortest time; but for `archive` of a tenant, which may be 0."""

MOST = 100 * 366 * 86400.0

EPHEMERAL = "gone when its job, session or request is over"
CONFIGURED = "what people set up; does not grow by itself"
SUMMED = "summed up by a round of upkeep"
BOUNDED = "one row, or one for each of a few names"

TABLES: Mapping[str, str] = {
    "job": "succeeded", "attempt": "succeeded", "outcome": "succeeded", "job_kept": "succeeded",
    "tally": "succeeded", "worker": "succeeded", "dead_letter": "dead_letter", "leaving": "archive",
    "archive_unit": "archive", "event": "events", "event_delivery": "events", "tick": "events",
    "webhook_message": "events", "audit_log": "audit", "audit_chain": "audit",
    "idempotency_key": "its own expiry, or a day after its job's end", "trigger_recent": "its own expiry",
    "http_answer": "24 hours", "http_claim": "an hour after its end", "console_session": "7 days after its end",
    "login_link": "7 days after its end", "artifact": "its own expiry, or its job's end",
    "ready": EPHEMERAL, "scheduled": EPHEMERAL, "blocked": EPHEMERAL, "running": EPHEMERAL, "progress": EPHEMERAL,
    "cancel_request": EPHEMERAL, "refused_type": EPHEMERAL, "intake": EPHEMERAL, "lease": EPHEMERAL, "sleeper": EPHEMERAL,
    "http_session": EPHEMERAL, "audit_unsealed": EPHEMERAL, "rate_take": EPHEMERAL, "partition": EPHEMERAL,
    "retention_progress": BOUNDED, "partition_policy": BOUNDED, "partition_horizon": BOUNDED, "upkeep": BOUNDED,
    "audit_horizon": BOUNDED, "audit_start": BOUNDED, "archive_state": BOUNDED, "migration": BOUNDED,
    "tenant": CONFIGURED, "project": CONFIGURED, "queue": CONFIGURED, "lane": CONFIGURED, "limit_rule": CONFIGURED,
    "job_definition": CONFIGURED, "definition_version": CONFIGURED, "trigger": CONFIGURED, "webhook": CONFIGURED,
    "webhook_secret": CONFIGURED, "api_key": CONFIGURED, "retention_rule": CONFIGURED,
    "rollup": "rollups", "rollup_fleet": "rollups", "rollup_hour": "rollups", "queue_minute": "2 days", "rollup_part": SUMMED,
    "forgotten": SUMMED, "rollup_total": BOUNDED, "rollup_state": BOUNDED,
    "error_group": "error_groups", "error_group_tenant": "error_groups",
    "error_group_minute": "error_groups", "error_group_note": "error_groups", "error_group_part": SUMMED,
    "type_pause": CONFIGURED,
    "incident": "incidents", "incident_part": "incidents", "incident_job": "incidents", "notification": "incidents",
    "incident_over": "a day", "channel_state": BOUNDED, "attainment": BOUNDED, "dead_news": SUMMED,
    "budget": CONFIGURED, "budget_period": "budgets", "budget_balance": "budgets", "budget_line": "budgets",
    "budget_reservation": "7 days after its end", "budget_alert": "budgets",
    "dead_tally": SUMMED, "dead_alarm": BOUNDED, "operation": "operations", "operation_item": "operations",
    "operation_share": "operations", "budget_request": "budgets", "saved_view": CONFIGURED, "live_watch": EPHEMERAL,
    "recovery_rule": CONFIGURED, "recovery": "operations",
    "workflow": "succeeded", "workflow_step": "succeeded", "workflow_edge": "succeeded", "workflow_inbox": SUMMED,
    "seat": EPHEMERAL, "seat_waiter": EPHEMERAL, "boost": "succeeded", "job_tag": "succeeded", "pin": "succeeded",
    "cell_tenant": CONFIGURED, "tenant_gate": CONFIGURED, "tenant_move": "operations",
}  # fmt: skip
"""Each table of the schema: the subject whose rule it follows, another end, or why it does not grow."""


def check_subject(subject: str, *, of_tenant: bool) -> str:
    """Raises InvalidValue for one that no rule can be about."""
    if subject not in SUBJECTS:
        raise InvalidValue(
            f"{subject[:80]!r} has no retention{did_you_mean(subject, SUBJECTS, noun='subjects')}"
        )
    if of_tenant and subject not in OF_TENANTS:
        raise InvalidValue(
            f"{subject} is kept alike for all; a tenant may have rules for: {', '.join(sorted(OF_TENANTS))}"
        )
    return subject


def check_keep(subject: str, seconds: float | None, *, of_tenant: bool) -> float | None:
    """So many seconds, or None for ever. Raises InvalidValue."""
    if seconds is None:
        if subject in NEVER_FOR_EVER:
            raise InvalidValue(
                f"{subject} is kept for a time, of at most 100 years; in the cold archive it may stay for ever"
            )
        return None
    if subject == "archive" and of_tenant and seconds == 0:
        return 0.0
    if not LEAST <= seconds <= MOST:
        raise InvalidValue(f"{subject} is kept for 1 hour to 100 years, not for {seconds:g} seconds")
    return seconds
