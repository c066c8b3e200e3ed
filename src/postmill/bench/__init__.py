"""Postmill's own figures, each beside its limit: the same SQL with nothing around it, in the same run."""

from postmill.bench.case import BenchError, Case, Option
from postmill.bench.catalog import CASES
from postmill.bench.running import run

__all__ = ["CASES", "BenchError", "Case", "Option", "run"]
