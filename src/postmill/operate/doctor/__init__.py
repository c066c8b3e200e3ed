"""`postmill doctor`: what a tired operator would look at, in one round, each line with what to do."""

from postmill.operate.doctor.examine import CHECKS, Report, examine
from postmill.operate.doctor.finding import Finding, Level
from postmill.operate.doctor.probe import Probe

__all__ = ["CHECKS", "Finding", "Level", "Probe", "Report", "examine"]
