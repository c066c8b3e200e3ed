"""Postmill's tables by what they are about, and what their columns name without a foreign key."""

from __future__ import annotations

from types import MappingProxyType

from tests.support.erd.drawing import Values

GROUPS = MappingProxyType(
    {
        "jobs": (
            "job job_kept ready scheduled blocked running dead_letter outcome attempt idempotency_key cancel_request boost pin"
            " job_tag forgotten intake progress"
        ),
        "definitions": (
            "job_definition definition_version queue lane type_pause refused_type tenant tenant_gate project limit_rule rate_take"
            " seat seat_waiter tally"
        ),
        "workers": "worker lease sleeper leaving upkeep live_watch http_session http_claim http_answer",
        "triggers": "trigger trigger_recent tick event event_delivery webhook webhook_secret webhook_message",
        "workflows": "workflow workflow_step workflow_edge workflow_inbox artifact",
        "budgets": "budget budget_period budget_balance budget_line budget_reservation budget_request budget_alert",
        "incidents": (
            "incident incident_job incident_over incident_part notification channel_state attainment queue_minute dead_alarm"
            " dead_news dead_tally recovery recovery_rule error_group error_group_minute error_group_note error_group_part"
            " error_group_tenant"
        ),
        "access": (
            "api_key console_session login_link saved_view audit_log audit_chain audit_horizon audit_start audit_unsealed"
            " cell_tenant tenant_move"
        ),
        "operations": "operation operation_item operation_share",
        "history": (
            "partition partition_horizon partition_policy retention_rule retention_progress archive_unit archive_state rollup"
            " rollup_part rollup_hour rollup_fleet rollup_state rollup_total migration"
        ),
    }
)
"""Every table stands in exactly one of them."""

VALUES: Values = MappingProxyType(
    {
        ("*", "job_id"): "job",
        ("*", "queue"): "queue",
        ("*", "job_type"): "job_definition",
        ("*", "holder"): "lease",
        ("*", "tenant_id"): "tenant",
        ("*", "workflow_id"): "workflow",
        ("*", "trigger_id"): "trigger",
        ("*", "event_id"): "event",
        **{
            (table, "id"): "job"
            for table in (
                "ready",
                "scheduled",
                "blocked",
                "running",
                "dead_letter",
                "boost",
                "cancel_request",
            )
        },
        ("job_kept", "id"): "",
    }
)
"""Table (`*`: any) and column → the table that it means. Bodies go by whole partitions, which a foreign key would hinder."""
