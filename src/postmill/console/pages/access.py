"""Access: members, API keys, console sessions, what roles may, and who is told of what."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from starlette.responses import Response

from postmill.console.frame.pages import Pages
from postmill.console.frame.visit import Visit
from postmill.console.frame.words import _
from postmill.console.live.hub import Hub
from postmill.console.pages.budgets import slugs
from postmill.console.pages.moments import read_moment
from postmill.domain.access import PERMISSIONS, Action, Role
from postmill.domain.errors import InvalidValue, NotFound, NotPermitted
from postmill.domain.escalation import KINDS
from postmill.domain.settings_escalation import EscalationSettings
from postmill.operate import keys as operate
from postmill.store.keys import list_keys, list_logins, list_members

router = Pages()

PAGE = 50
KEY_FIELDS = ("name", "role", "tenant", "expires")
LINK_FIELDS = ("person", "link_role", "link_tenant")


@router.page("/settings", Action.KEYS_READ)
async def access(visit: Visit) -> Response:
    """Who may come in, and as what."""
    return await _page(visit)


@router.act("/settings/keys", Action.KEYS_WRITE)
async def create_key(visit: Visit) -> Response:
    """A new key. Its secret is in this answer and nowhere else."""
    values = {name: visit.form.text(name) for name in KEY_FIELDS}
    errors: dict[str, str] = {}
    expires = None
    try:
        expires = read_moment(values["expires"])
    except ValueError as fault:
        errors["expires"] = str(fault)
    role = _role(values, "role", errors)
    if not errors and role is not None:
        flow = operate.create_key(
            values["name"],
            role,
            tenant=_home(visit, values["tenant"]),
            expires_at=expires,
            by=visit.asked.principal,
            schema=visit.schema,
        )
        made = await _handed_out(visit, flow, "keys.create", role, errors, "tenant", "name")
        if made is not None:
            return await _page(visit, made_key=made)
    return await _page(visit, values=values, errors=errors)


@router.act("/settings/links", Action.KEYS_WRITE)
async def create_link(visit: Visit) -> Response:
    """A link by which somebody logs in, once. It is in this answer and nowhere else."""
    values = {name: visit.form.text(name) for name in LINK_FIELDS}
    errors: dict[str, str] = {}
    if not 1 <= len(values["person"]) <= 200:
        errors["person"] = _(
            "is a name or an address of at most 200 characters: the log knows the person by it"
        )
    role = _role(values, "link_role", errors)
    if not errors and role is not None:
        flow = operate.create_link(
            values["person"],
            role,
            tenant=_home(visit, values["link_tenant"]),
            by=visit.asked.principal,
            schema=visit.schema,
        )
        made = await _handed_out(visit, flow, "logins.link", role, errors, "link_tenant", "person")
        if made is not None:
            public = visit.asked.backend.settings.server.public_url
            own = str(visit.request.base_url)
            root = (public or own).rstrip("/")
            return await _page(visit, made_link={"link": made, "url": f"{root}/login?token={made.token}"})
    return await _page(visit, values=values, errors=errors)


@router.act("/settings/keys/{id:uuid}/revoke", Action.KEYS_WRITE)
async def revoke_key(visit: Visit) -> Response:
    """The next request with it is refused."""
    id: UUID = visit.request.path_params["id"]
    reason = visit.form.text("reason", None)
    await visit.drive(operate.revoke_key(id, reason=reason, schema=visit.schema))
    visit.asked.backend.keys.forget()
    _look_again(visit)
    return visit.done(_("The key was revoked: the next request with it is refused."), visit.url("/settings"))


@router.act("/settings/logins/{id:uuid}/end", Action.KEYS_WRITE)
async def end_login(visit: Visit) -> Response:
    """The next request of that login is refused."""
    id: UUID = visit.request.path_params["id"]
    reason = visit.form.text("reason", None)
    await visit.drive(operate.end_login(id, reason=reason, schema=visit.schema))
    _look_again(visit)
    return visit.done(_("The session was ended."), visit.url("/settings"))


def _look_again(visit: Visit) -> None:
    """Streams of who is out by now end at once here; other servers hear of it by the audit log's ping."""
    hub: Hub = visit.request.app.state.live
    for home in {stream.home for stream in hub.streams}:
        hub.look_again(home)


async def _handed_out(
    visit: Visit, flow: Any, action: str, role: Role, errors: dict[str, str], tenant: str, name: str
) -> Any:
    """What was made; None, with the reason in `errors`, where it was not. Denials are audited."""
    try:
        return await visit.drive(flow)
    except NotPermitted as fault:
        raise await visit.asked.denied(action, str(fault), target=f"role {role}") from None
    except NotFound as fault:
        errors[tenant] = str(fault)
    except InvalidValue as fault:
        text = str(fault)
        at = tenant if "tenant" in text else "expires" if "end" in text and "key" in text else name
        errors[at] = text
    return None


def _role(values: dict[str, str], name: str, errors: dict[str, str]) -> Role | None:
    try:
        return Role(values[name])
    except ValueError:
        errors[name] = _("is none of the roles")
        return None


def _home(visit: Visit, named: str) -> str | UUID | None:
    return visit.scope.tenant.id if visit.scope.tenant is not None else named or None


async def _page(
    visit: Visit,
    *,
    values: dict[str, str] | None = None,
    errors: dict[str, str] | None = None,
    made_key: Any = None,
    made_link: Any = None,
) -> Response:
    live = visit.args.text("keys") != "all"
    keys = await visit.read(
        list_keys(before=visit.args.id("key"), most=PAGE + 1, live=live, schema=visit.schema)
    )
    logins = await visit.read(list_logins(before=visit.args.id("login"), most=PAGE + 1, schema=visit.schema))
    members = await visit.read(list_members(schema=visit.schema))
    principal = visit.asked.principal
    tenant = visit.scope.tenant.id if visit.scope.tenant is not None else None
    roles = [
        role for role in Role
        if principal.may_hand_out(role, tenant) or (tenant is None and principal.role is Role.SUPER_ADMIN)
    ]  # fmt: skip
    own = getattr(visit.request.state, "login", None)
    seen = [key.tenant_id for key in keys[:PAGE]] + [login.tenant_id for login in logins[:PAGE]]
    seen += [member.tenant_id for member in members]
    which = None if live else "all"
    return visit.page(
        "access/page.html",
        422 if errors else 200,
        keys=keys[:PAGE],
        older_keys=visit.url("/settings", keys=which, key=keys[PAGE - 1].id) if len(keys) > PAGE else None,
        logins=logins[:PAGE],
        older_logins=visit.url("/settings", keys=which, login=logins[PAGE - 1].id)
        if len(logins) > PAGE
        else None,
        members=members,
        slugs=await slugs(visit, seen),
        live=live,
        roles=roles,
        own_login=None if own is None else own.id,
        permissions=[(role, sorted(PERMISSIONS[role])) for role in Role],
        rules=rules_of(visit.asked.backend.settings.escalation) if visit.scope.ops else None,
        values=values
        or {"role": str(roles[0]) if roles else "", "link_role": str(roles[0]) if roles else ""},
        errors=errors or {},
        networks=visit.asked.backend.settings.server.allow_from,
        shown=(*KEY_FIELDS, *LINK_FIELDS),
        made_key=made_key,
        made_link=made_link,
        secret=True,
    )


def rules_of(settings: EscalationSettings) -> dict[str, Any]:
    """Who is told of what, as the settings say it: names, never addresses or keys."""
    first = next(iter(settings.all_channels), None)
    usual = settings.default or first
    return {
        "kinds": [(kind, getattr(settings.kinds, kind, None), usual) for kind in KINDS],
        "policies": [(name, list(policy.steps)) for name, policy in settings.policies.items()],
        "channels": [
            (name, channel.kind, channel.digest, channel.hours)
            for name, channel in settings.all_channels.items()
        ],
    }
