"""The Helm chart as Helm renders it, and the shapes that KEDA's objects must have."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from helm_python.chart import Chart

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/helm/postmill"

FAMILIES: dict[str, Any] = {
    "settings": {
        "queues": {
            "ultra": {"owner": "Feeds", "sla": "60s", "slots": 50},
            "SCREENSHOT": {"owner": "Growth", "slots": 3},
        },
    },
    "workers": {
        "default": None,
        "ultra": {
            "owner": "feeds",
            "modules": ["homepage.feeds", "homepage.mail"],
            "queues": {"ultra": "5..50", "q:mail": 5},
            "processes": 3,
            "graceSeconds": 120,
            "preStopSeconds": 5,
            "autoscaling": {"enabled": True, "minReplicas": 2, "maxReplicas": 40},
        },
        "shots": {"owner": "growth", "queues": {"SCREENSHOT": 3}, "replicas": 1},
    },
    "server": {
        "ingress": {
            "enabled": True,
            "host": "ops.example.org",
            "className": "nginx",
            "tlsSecret": "ops",
        }
    },
    "database": {"serverKey": "server", "listenKey": "direct"},
    "networkPolicy": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}]},
    "imagePullSecrets": [{"name": "registry"}],
    "env": [{"name": "SLACK_TOKEN", "valueFrom": {"secretKeyRef": {"name": "slack", "key": "token"}}}],
}
"""Everything that the values can say."""


@cache
def chart() -> Chart:
    """Loaded once."""
    return Chart.load(FOLDER)


def render(values: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The objects of a release `shop` in the namespace `jobs`; raises what Helm says of wrong values."""
    values = values or {}
    chart().validate_schema(chart().merge_values(values))
    texts = chart().render(values, name="shop", namespace="jobs")
    return [
        document
        for name, text in texts.items()
        if not name.endswith(".txt")
        for document in yaml.safe_load_all(text)
        if document
    ]


def one(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """The object of this kind and name."""
    [found] = [o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)]
    return found


def pods(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The specifications of pods by the name of what makes them."""
    return {
        o["metadata"]["name"]: o["spec"]["template"]["spec"]
        for o in objects
        if o["kind"] in ("Deployment", "Job")
    }


_NAME = {"type": "string", "pattern": "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", "maxLength": 253}
_META = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": _NAME, "labels": {"additionalProperties": {"type": "string", "maxLength": 63}}},
}


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


_POLICY = _closed(
    {
        "type": {"enum": ["Pods", "Percent"]},
        "value": {"type": "integer", "minimum": 1},
        "periodSeconds": {"type": "integer", "minimum": 1, "maximum": 1800},
    },
    ["type", "value", "periodSeconds"],
)
_RULES = _closed(
    {
        "stabilizationWindowSeconds": {"type": "integer", "minimum": 0, "maximum": 3600},
        "selectPolicy": {"enum": ["Max", "Min", "Disabled"]},
        "policies": {"type": "array", "minItems": 1, "items": _POLICY},
    },
    [],
)
_TRIGGER = _closed(
    {
        "type": {"const": "metrics-api"},
        "name": {"type": "string"},
        "metricType": {"enum": ["AverageValue", "Value"]},
        "metadata": _closed(
            {
                "url": {"type": "string", "pattern": "^https?://[^/ ]+/[^ ]*$"},
                "valueLocation": {"type": "string", "minLength": 1},
                "targetValue": {"type": "string", "pattern": r"^\d+(\.\d+)?$"},
                "activationTargetValue": {"type": "string", "pattern": r"^\d+(\.\d+)?$"},
                "authMode": {"enum": ["apiKey", "basic", "tls", "bearer"]},
                "unsafeSsl": {"enum": ["true", "false"]},
            },
            ["url", "valueLocation", "targetValue"],
        ),
        "authenticationRef": _closed(
            {"name": _NAME, "kind": {"enum": ["TriggerAuthentication", "ClusterTriggerAuthentication"]}},
            ["name"],
        ),
    },
    ["type", "metadata"],
)

KEDA: dict[str, dict[str, Any]] = {
    "ScaledObject": _closed(
        {
            "apiVersion": {"const": "keda.sh/v1alpha1"},
            "kind": {"const": "ScaledObject"},
            "metadata": _META,
            "spec": _closed(
                {
                    "scaleTargetRef": _closed({"name": _NAME}, ["name"]),
                    "minReplicaCount": {"type": "integer", "minimum": 0},
                    "maxReplicaCount": {"type": "integer", "minimum": 1},
                    "pollingInterval": {"type": "integer", "minimum": 1},
                    "cooldownPeriod": {"type": "integer", "minimum": 0},
                    "fallback": _closed(
                        {
                            "failureThreshold": {"type": "integer", "minimum": 1},
                            "replicas": {"type": "integer", "minimum": 0},
                        },
                        ["failureThreshold", "replicas"],
                    ),
                    "advanced": _closed(
                        {
                            "restoreToOriginalReplicaCount": {"type": "boolean"},
                            "horizontalPodAutoscalerConfig": _closed(
                                {"behavior": _closed({"scaleDown": _RULES, "scaleUp": _RULES}, [])}, []
                            ),
                        },
                        [],
                    ),
                    "triggers": {"type": "array", "minItems": 1, "items": _TRIGGER},
                },
                ["scaleTargetRef", "triggers"],
            ),
        },
        ["apiVersion", "kind", "metadata", "spec"],
    ),
    "TriggerAuthentication": _closed(
        {
            "apiVersion": {"const": "keda.sh/v1alpha1"},
            "kind": {"const": "TriggerAuthentication"},
            "metadata": _META,
            "spec": _closed(
                {
                    "secretTargetRef": {
                        "type": "array",
                        "minItems": 1,
                        "items": _closed(
                            {"parameter": {"type": "string"}, "name": _NAME, "key": {"type": "string"}},
                            ["parameter", "name", "key"],
                        ),
                    }
                },
                ["secretTargetRef"],
            ),
        },
        ["apiVersion", "kind", "metadata", "spec"],
    ),
}
"""Of KEDA's definitions (keda.sh/v1alpha1), what the chart uses; anything else is refused."""
