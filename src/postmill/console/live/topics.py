"""What pings can be about: the words of `data-topic` on the live parts of pages."""

from __future__ import annotations

from uuid import UUID

TOPICS = frozenset(
    {
        "audit",
        "budgets",
        "dead",
        "definitions",
        "errors",
        "incidents",
        "jobs",
        "operations",
        "queues",
        "settings",
        "system",
        "tenants",
        "triggers",
        "workers",
    }
)

PLATFORM = "ops"
"""The scope of pages under `/ops`: they are told of everything."""

ENDED = "logins"
"""Not for browsers: a login or a key of the scope has ended, and streams of its people are looked at."""

ACTED = "audit"
"""The topic of whatever somebody does."""

MANY = "*"
"""The scope of a ping that may concern any tenant."""


def ended_in(notification: str) -> UUID | bool | None:
    """Whose logins have to be looked at: a tenant's, the platform's (None); False: nobody's."""
    names, _, scope = notification.partition(" ")
    if ENDED not in names.split(","):
        return False
    try:
        return None if scope == "-" else UUID(scope)
    except ValueError:
        return False


def pings_of(notification: str) -> list[tuple[str, str]]:
    """Topics and scopes of a notification, `topic[,topic …] tenant|-|*`; none of one that is not understood."""
    names, _, scope = notification.partition(" ")
    topics = [name for name in names.split(",") if name in TOPICS]
    found = [(topic, PLATFORM) for topic in topics]
    if scope == MANY:
        found += [(topic, MANY) for topic in topics]
    elif scope != "-":
        try:
            tenant = str(UUID(scope))
        except ValueError:
            return []
        found += [(topic, tenant) for topic in topics]
    return found
