"""Roles and what they may: the table is closed, and nobody hands out more than he has."""

from itertools import product
from uuid import UUID, uuid4

import pytest

from postmill.domain.access import PERMISSIONS, PLATFORM_ROLES, TENANT_ROLES, Action, Principal, Role
from postmill.domain.errors import InvalidValue
from postmill.domain.secret import hashed, new_secret
from postmill.domain.tenant import check_slug, check_tenant

ADA = UUID(int=1)


def test_every_role_has_its_line():
    assert set(PERMISSIONS) == set(Role)
    assert not TENANT_ROLES & PLATFORM_ROLES
    assert set(Role) - TENANT_ROLES - PLATFORM_ROLES == {Role.AUDITOR, Role.WORKER}


def test_roles_grow():
    assert PERMISSIONS[Role.VIEWER] < PERMISSIONS[Role.OPERATOR] < PERMISSIONS[Role.TENANT_ADMIN]
    assert (
        PERMISSIONS[Role.PLATFORM_VIEWER]
        < PERMISSIONS[Role.PLATFORM_OPERATOR]
        < PERMISSIONS[Role.SUPER_ADMIN]
    )
    assert PERMISSIONS[Role.WORKER] == {Action.WORK}
    assert {action for action in PERMISSIONS[Role.AUDITOR] if not action.endswith(".read")} == set()
    assert Action.PAYLOADS_READ not in PERMISSIONS[Role.VIEWER]


def test_a_role_of_a_tenant_is_never_the_platforms():
    assert not Principal("user", "x", Role.TENANT_ADMIN).platform
    assert Principal("user", "x", Role.AUDITOR).platform
    assert not Principal("user", "x", Role.AUDITOR, ADA).platform


@pytest.mark.parametrize(("own", "role"), list(product(Role, Role)))
def test_nobody_hands_out_more_than_he_has_or_elsewhere(own, role):
    home = ADA if own in TENANT_ROLES else None
    giver = Principal("user", "x", own, home)
    for tenant in (None, ADA, uuid4()):
        if giver.may_hand_out(role, tenant):
            assert own is Role.SUPER_ADMIN or PERMISSIONS[role] <= PERMISSIONS[own]
            assert home is None or tenant == home
            assert (role not in TENANT_ROLES) or tenant is not None
            assert (role not in PLATFORM_ROLES) or tenant is None
    assert Principal("user", "x", Role.SUPER_ADMIN).may_hand_out(role, ADA if role in TENANT_ROLES else None)
    if role is Role.WORKER and own not in (Role.SUPER_ADMIN, Role.WORKER):
        assert not any(giver.may_hand_out(role, tenant) for tenant in (None, ADA))


def test_secrets():
    made = {new_secret("pm_").clear for _ in range(100)}
    assert len(made) == 100
    one = new_secret("pm_")
    assert one.hash == hashed(one.clear)
    assert one.clear not in repr(one)
    assert hashed("\ud800") != hashed("x")


@pytest.mark.parametrize("slug", ["", "-a", "a-", "A", "a b", "a" * 64, "ä", "a_b", "a/b", "a\n"])
def test_what_is_no_slug(slug):
    with pytest.raises(InvalidValue, match="no slug of a tenant"):
        check_slug(slug)


@pytest.mark.parametrize(
    "setting",
    [
        {"name": ""}, {"name": "x" * 201}, {"name": "a\0b"}, {"name": 5}, {"timezone": "Mars"}, {"status": "on"},
        {"weight": 0}, {"weight": 1001}, {"weight": True}, {"weight": 1.5}, {"max_running": 0}, {"max_running": 2**31},
        {"max_running": "many"}, {"retention_seconds": 0}, {"retention_seconds": -1}, {"retention_seconds": 1e12},
        {"retention_seconds": float("nan")},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_are_none(setting):
    with pytest.raises(InvalidValue):
        check_tenant(setting)


def test_settings_that_are():
    given = {"name": "Ada", "timezone": "Europe/Amsterdam", "status": "active", "weight": 1000, "max_running": None,
             "retention_seconds": None}  # fmt: skip
    assert check_tenant(given) == given
    assert check_slug("a") == "a"
    assert check_slug("a" * 63) == "a" * 63
