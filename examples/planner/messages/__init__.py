"""What people are told, and how: templates, and a client for each of four channels. Nothing here knows of jobs."""
