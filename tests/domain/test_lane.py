from uuid import UUID

import pytest

from postmill.domain.lane import (
    DEFAULT_TENANT,
    NO_LANE,
    check_rule,
    key_lane,
    lane_of,
    type_lane,
    type_prefix,
)

TENANT = UUID("0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")


def test_a_key_lane_is_the_md5_that_postgresql_computes() -> None:
    # select md5('00000000-0000-0000-0000-000000000001:RSS')::uuid
    assert key_lane(DEFAULT_TENANT, "RSS") == UUID("7bd3d0a6f9b8808c191f56286ca854cc")
    # select md5('0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b:ключ')::uuid
    assert key_lane(TENANT, "ключ") == UUID("04b39f76c92a606b04fee20a128a12b2")


def test_the_rules() -> None:
    assert lane_of("tenant", TENANT, "t") == TENANT
    assert lane_of("none", TENANT, "t") == NO_LANE == UUID(int=0)
    assert lane_of("type", TENANT, "t") == type_lane(TENANT, "t")
    assert lane_of("payload.customer", TENANT, "t", "c1") == key_lane(TENANT, "c1")
    assert lane_of("payload.customer", TENANT, "t") == TENANT


def test_a_callers_key_wins_except_over_a_limit_by_type() -> None:
    for rule in ("tenant", "none", "payload.x"):
        assert lane_of(rule, TENANT, "t", "k") == key_lane(TENANT, "k")
    assert lane_of("type", TENANT, "t", "k") == type_lane(TENANT, "t")


def test_equal_keys_of_two_tenants_are_two_lanes() -> None:
    assert key_lane(TENANT, "k") != key_lane(DEFAULT_TENANT, "k")


@pytest.mark.parametrize("rule", ["tenant", "none", "payload.a", "payload.a.b"])
def test_rules_that_people_may_write(rule: str) -> None:
    assert check_rule(rule) == rule


@pytest.mark.parametrize("rule", ["", "type", "payload", "payload.", "payload..a", "Tenant", "payloadx.a"])
def test_rules_that_they_may_not(rule: str) -> None:
    with pytest.raises(ValueError, match="is none of: tenant, none, payload"):
        check_rule(rule)


def test_a_lane_of_a_type_tells_the_type_and_differs_by_tenant() -> None:
    # select postmill.lane_of('type', '00000000-0000-0000-0000-000000000001', 'ask', '{}', null)
    assert type_lane(DEFAULT_TENANT, "ask") == UUID("5ed33f70-0877-1c9d-60a1-b7758e749759")
    for tenant in (TENANT, DEFAULT_TENANT):
        assert type_lane(tenant, "ask").bytes.startswith(type_prefix("ask"))
    assert type_lane(TENANT, "ask") != type_lane(DEFAULT_TENANT, "ask")
    assert type_prefix("ask") != type_prefix("tell")
