"""The job types of these tests."""

from postmill.domain.job_type import job


@job("greet", max_attempts=4)
def greet(name: str = "you", n: int = 0) -> str:
    """Greets."""
    return f"hello {name}"


@job("other")
def other() -> None:
    """Another type."""


@job("late")
def late() -> None:
    """A type that nobody registered."""
