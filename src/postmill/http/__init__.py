"""The HTTP API from Python: typed clients that need no database, for code that blocks and for code that awaits.

    from postmill.http import ApiClient

    with ApiClient("https://jobs.example.com", key="pm_…") as api:
        job = api.jobs.enqueue("resize", {"photo": 4711})

Needs the extra `http`. What is answered are the models of `postmill.shapes`.
"""

from __future__ import annotations

from postmill.http.asynchronous import AsyncApiClient
from postmill.http.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    Refused,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from postmill.http.sync import ApiClient
from postmill.shapes.budgets import BudgetChanges, BudgetLevel, WholeBudget
from postmill.shapes.definitions import DefinitionChanges, NewDefinition, Rate
from postmill.shapes.job_priority import WaitingJobs
from postmill.shapes.limits import LimitRate, NewLimit
from postmill.shapes.operations import LetterSelection
from postmill.shapes.tenants import NewTenant, TenantChanges
from postmill.shapes.triggers import NewTrigger, TriedTrigger, TriggerChanges
from postmill.shapes.work import FannedJob, FanOut, JobError, WorkProgress
from postmill.shapes.workflows import NewStep, Parent, WorkflowJob

__all__ = [
    # the clients
    "ApiClient",
    "AsyncApiClient",
    # what they are given
    "BudgetChanges",
    "BudgetLevel",
    "DefinitionChanges",
    "FanOut",
    "FannedJob",
    "JobError",
    "LetterSelection",
    "LimitRate",
    "NewDefinition",
    "NewLimit",
    "NewStep",
    "NewTenant",
    "NewTrigger",
    "Parent",
    "Rate",
    "TenantChanges",
    "TriedTrigger",
    "TriggerChanges",
    "WaitingJobs",
    "WholeBudget",
    "WorkProgress",
    "WorkflowJob",
    # what goes wrong
    "ApiError",
    "Unauthorized",
    "Forbidden",
    "NotFound",
    "Conflict",
    "Refused",
    "TooManyRequests",
    "Unavailable",
    "Unreachable",
    "UnexpectedAnswer",
]
