"""What a job is checked for before it is sent: an error in SQL would abort the caller's transaction."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from postmill.domain.job import NewJob
from postmill.domain.job_options import normalize
from postmill.domain.payload import check_line, check_text

_OPTIONS = {
    field.name: field.default
    for field in fields(NewJob)
    if field.name not in ("job_type", "payload", "key_derived", "definition")
}


def checked(job: NewJob) -> NewJob:
    """`job`, if it can be stored.

    One made by a job type was checked when it was made; one written out by hand is checked here.

    Raises:
        PayloadRefused: the payload or an option cannot be stored; names the path.
        TypeError: it is no NewJob.
    """
    if not isinstance(job, NewJob):
        raise TypeError(f"enqueue takes a NewJob, as made by a job type's .new(…), not {type(job).__name__}")
    if job.definition is None:
        check_line("job_type", job.job_type)
        check_text(job.payload)
        given = {name: value for name, absent in _OPTIONS.items() if (value := getattr(job, name)) != absent}
        if given:
            changes: dict[str, Any] = normalize(given)
            return replace(job, **changes)
    return job
