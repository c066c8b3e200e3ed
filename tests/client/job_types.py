"""The job types of these tests."""

from typing import Any

from postmill.domain.job_type import job


@job("echo")
def echo(value: Any) -> Any:
    """Says it again."""
    return value
