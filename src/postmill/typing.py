"""Names for annotations: what `@job` and `schedule` take and give, and what a context gives.

    def mailing(**options: Unpack[JobTypeOptions]) -> Decorator:
        options.setdefault("queue", "mail")
        return job(**options)

None is to be called. They are imported at their first use, as those of `postmill` are.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from postmill.domain.declared import DeclaredTrigger
    from postmill.domain.job_type import Decorator
    from postmill.domain.job_type_options import JobTypeOptions
    from postmill.engine.budgets import Budget

__all__ = ["JobTypeOptions", "Decorator", "DeclaredTrigger", "Budget"]

_HOME_OF = {
    "JobTypeOptions": "postmill.domain.job_type_options",
    "Decorator": "postmill.domain.job_type",
    "DeclaredTrigger": "postmill.domain.declared",
    "Budget": "postmill.engine.budgets",
}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
