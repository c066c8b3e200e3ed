"""Tests of the planner, against real PostgreSQL, real sockets and real SMTP."""
