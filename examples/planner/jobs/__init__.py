"""What a worker of the application serves: `postmill worker examples.planner.jobs`. One module for each job type."""

from examples.planner.resources import channels, databases

# A worker opens the resources that stand at the top of what it serves.
__all__ = ["channels", "databases"]
