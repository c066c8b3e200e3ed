"""For tests of applications that enqueue jobs: what was enqueued, running it, and stopping the clock.

The pytest plugin, which comes with the package, gives them as fixtures, and a database to each test: see `plugin`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.testing.clock import FrozenClock
    from postmill.testing.draining import Drained, adrain, drain
    from postmill.testing.inlining import Ran, inline
    from postmill.testing.looking import (
        aassert_enqueued,
        aassert_not_enqueued,
        aenqueued,
        assert_enqueued,
        assert_not_enqueued,
        enqueued,
    )
    from postmill.testing.performing import aperform, perform

_HOMES = {
    "clock": "FrozenClock",
    "draining": "Drained adrain drain",
    "looking": (
        "aassert_enqueued aassert_not_enqueued aenqueued assert_enqueued assert_not_enqueued enqueued"
    ),
    "inlining": "Ran inline",
    "performing": "aperform perform",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Drained",
    "FrozenClock",
    "Ran",
    "aassert_enqueued",
    "aassert_not_enqueued",
    "adrain",
    "aenqueued",
    "aperform",
    "assert_enqueued",
    "assert_not_enqueued",
    "drain",
    "enqueued",
    "inline",
    "perform",
]


def __getattr__(name: str) -> Any:
    # The plugin is read by every run of pytest where Postmill is installed: it costs nothing until it is used.
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    found = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = found
    return found
