"""What PagerDuty's Events API v2, Slack's incoming webhooks, and a receiver of signed webhooks take."""

from __future__ import annotations

from typing import Any

_ACTIONS = ("trigger", "acknowledge", "resolve")
_SEVERITIES = ("critical", "error", "warning", "info")


def pagerduty(path: str, body: Any) -> tuple[int, object]:
    """POST /v2/enqueue: 202, or 400 with what is wrong."""
    if path != "/v2/enqueue":
        return 404, "not found"
    errors = []
    if not isinstance(body, dict):
        return 400, {"status": "invalid event", "errors": ["no JSON object"]}
    if not isinstance(body.get("routing_key"), str):
        errors.append("routing_key is missing")
    if body.get("event_action") not in _ACTIONS:
        errors.append("event_action is none of trigger, acknowledge, resolve")
    if not isinstance(body.get("dedup_key"), str) or len(body["dedup_key"]) > 255:
        errors.append("dedup_key is missing or longer than 255")
    if body.get("event_action") == "trigger":
        payload = body.get("payload") or {}
        if not isinstance(payload.get("summary"), str) or len(payload["summary"]) > 1024:
            errors.append("payload.summary is missing or longer than 1024")
        if not isinstance(payload.get("source"), str):
            errors.append("payload.source is missing")
        if payload.get("severity") not in _SEVERITIES:
            errors.append("payload.severity is none of critical, error, warning, info")
    if errors:
        return 400, {"status": "invalid event", "errors": errors}
    return 202, {"status": "success", "message": "Event processed", "dedup_key": body["dedup_key"]}


def slack(path: str, body: Any) -> tuple[int, object]:
    """An incoming webhook: `ok`, or what Slack says instead."""
    if not path.startswith("/services/"):
        return 404, "no_service"
    if not isinstance(body, dict) or not isinstance(body.get("text"), str) or not body["text"]:
        return 400, "invalid_payload"
    return (400, "msg_too_long") if len(body["text"]) > 40_000 else (200, "ok")


def receiver(path: str, body: Any) -> tuple[int, object]:
    """Any receiver of webhooks."""
    return (204, "") if isinstance(body, dict) else (400, "no JSON object")


def open_alerts(events: list[Any]) -> dict[str, str]:
    """The alerts that PagerDuty has after these events: the state of each that is not resolved, by its dedup_key."""
    found: dict[str, str] = {}
    for event in events:
        key, action = event["dedup_key"], event["event_action"]
        if action == "trigger":
            found.setdefault(key, "triggered")
        elif action == "acknowledge" and key in found:
            found[key] = "acknowledged"
        elif action == "resolve":
            found.pop(key, None)
    return found
