"""The Helm chart: rendered by Helm itself, valid for Kubernetes and KEDA, and what it runs is what the command line takes."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import kubernetes_validate
import pytest
from helm_python import HelmError
from helm_python.chart import lint
from kubernetes_validate import utils

from postmill.cli.queues_arg import parse_queues
from postmill.domain.settings_load import load
from postmill.domain.slot_range import SlotRange
from tests.deploy.chart import FAMILIES, FOLDER, KEDA, ROOT, one, pods, render

VERSIONS = ("1.25", kubernetes_validate.latest_version())
"""The oldest that Chart.yaml allows, and the newest known."""


@pytest.mark.parametrize("values", [{}, FAMILIES], ids=["as it is", "with everything"])
def test_every_object_is_one_of_kubernetes(values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utils, "schema_contents", cache(utils.schema_contents))
    assert lint(FOLDER, values, strict=True)["errors"] == []
    objects = render(values)
    for one_of_them in objects:
        if one_of_them["apiVersion"].startswith("keda.sh/"):
            jsonschema_rs.validator_for(KEDA[one_of_them["kind"]]).validate(one_of_them)
            continue
        for version in VERSIONS:
            kubernetes_validate.validate(one_of_them, version, strict=True)
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 for _, name in names)
    kinds = {kind for kind, _ in names}
    assert ("ScaledObject" in kinds, "Ingress" in kinds) == ((True, True) if values else (False, False))


def test_pods_may_do_little_and_hold_no_secret() -> None:
    """Kubernetes' standard `restricted`; whatever is secret is a reference."""
    for name, pod in pods(render(FAMILIES)).items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            urls = [e for e in container["env"] if e["name"].endswith("_URL")]
            assert {e["name"] for e in urls} == {"POSTMILL_DATABASE_URL", "POSTMILL_LISTEN_URL"}
            assert all("secretKeyRef" in e["valueFrom"] for e in urls)


def test_a_pod_has_longer_than_its_drain_takes() -> None:
    objects = pods(render(FAMILIES))
    assert objects["shop-worker-ultra"]["terminationGracePeriodSeconds"] > 120 + 5
    for name, pod in objects.items():
        [container] = pod["containers"]
        settings = {e["name"]: e.get("value") for e in container["env"]}
        grace = settings.get("POSTMILL_WORKER__GRACE") or settings.get("POSTMILL_SERVER__GRACE")
        if name == "shop-migrate":
            assert grace is None
            continue
        assert grace is not None
        before = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["", "0"])
        assert pod["terminationGracePeriodSeconds"] >= int(grace.removesuffix("s")) + int(before[1]) + 10
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()


def test_a_deployment_for_each_family_with_its_owner_and_thresholds() -> None:
    objects = render(FAMILIES)
    assert {name for name in pods(objects) if "worker" in name} == {"shop-worker-ultra", "shop-worker-shots"}
    ultra = one(objects, "Deployment", "shop-worker-ultra")
    labels = (ultra["metadata"]["labels"], ultra["spec"]["template"]["metadata"]["labels"])
    assert [label["postmill.io/owner"] for label in labels] == ["feeds", "feeds"]
    assert "replicas" not in ultra["spec"]  # they are the autoscaler's
    assert one(objects, "Deployment", "shop-worker-shots")["spec"]["replicas"] == 1
    scaled = one(objects, "ScaledObject", "shop-worker-ultra")
    assert (scaled["spec"]["minReplicaCount"], scaled["spec"]["maxReplicaCount"]) == (2, 40)
    asked = [trigger["metadata"]["url"] for trigger in scaled["spec"]["triggers"]]
    assert asked == [
        "http://shop-server.jobs.svc:80/api/v1/scaling/q%3Amail?slots_each=5",
        "http://shop-server.jobs.svc:80/api/v1/scaling/ultra?slots_each=50",
    ]
    # The server has such an address, and its answer what is read of it.
    api = json.loads((ROOT / "docs/reference/openapi.json").read_text())
    asking = api["paths"]["/api/v1/scaling/{queue}"]["get"]
    assert "slots_each" in [one["name"] for one in asking["parameters"]]
    where = {trigger["metadata"]["valueLocation"] for trigger in scaled["spec"]["triggers"]}
    assert where <= set(api["components"]["schemas"]["Scaling"]["properties"])
    for kind in ("PodDisruptionBudget", "Deployment"):
        for name in ("shop-worker-ultra", "shop-worker-shots", "shop-server"):
            found = one(objects, kind, name)
            template = ultra if kind == "Deployment" else found
            assert (
                found["spec"]["selector"]["matchLabels"].items()
                >= {"app.kubernetes.io/instance": "shop"}.items()
            ), template


def test_what_it_runs_is_what_the_command_line_takes(tmp_path: Path) -> None:
    objects = render(FAMILIES)
    [container] = pods(objects)["shop-worker-ultra"]["containers"]
    words = container["args"]
    assert words[:3] == ["worker", "homepage.feeds", "homepage.mail"]
    queues = [word.removeprefix("--queues=") for word in words if word.startswith("--queues=")]
    assert parse_queues(queues) == {"ultra": SlotRange(5, 50), "q:mail": 5}
    assert words[-2:] == ["--processes=3", "--port=9100"]
    assert [port["containerPort"] for port in container["ports"]] == [9100, 9101, 9102]
    # The mounted settings are ones that it reads.
    text = one(objects, "ConfigMap", "shop-settings")["data"]["postmill.yaml"]
    (tmp_path / "postmill.yaml").write_text(text)
    settings = load(tmp_path / "postmill.yaml")
    assert settings.queue("ultra").owner == "Feeds"
    assert settings.queue("screenshot").slots == 3
    assert settings.log.format == "json"
    [migrate] = pods(objects)["shop-migrate"]["containers"]
    assert migrate["args"] == ["migrate", "--only-safe"]
    [migrate] = pods(render({"migrate": {"breaking": True}}))["shop-migrate"]["containers"]
    assert migrate["args"] == ["migrate"]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown key": ({"workers": {"high": {"slots": 3}}}, "slots"),
    "a connection string among the settings": ({"settings": {"database_url": "x"}}, "database_url"),
    "an owner that is no label": ({"workers": {"high": {"owner": "Team Feeds!"}}}, "owner"),
    "a name that is none": ({"workers": {"High_Queue": {"owner": "a"}}}, "High_Queue"),
    "slots that are none": ({"workers": {"high": {"queues": {"high": 0}}}}, "high"),
    "scaling of no queue": (
        {"workers": {"default": None, "high": {"autoscaling": {"enabled": True}}}},
        "workers.high.queues",
    ),
    "scaling without a server": (
        {"server": {"enabled": False}, "workers": {"default": {"autoscaling": {"enabled": True}}}},
        "keda.serverUrl",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_values_are_refused_by_name(what: str) -> None:
    values, word = WRONG[what]
    with pytest.raises(HelmError, match=word):
        render(copy.deepcopy(values))
