"""What a worker of the application serves, a module for each job type: `postmill worker examples.homepage.jobs`."""
