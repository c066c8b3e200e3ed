"""What a worker of the application serves: `postmill worker examples.planner.jobs`. One module for each job type."""
