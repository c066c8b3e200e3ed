"""Statements: one function per SQL file, pure."""
