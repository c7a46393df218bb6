"""Faults: a thousand runs of a program in which things go wrong, and an auditor who looks on."""

from __future__ import annotations

from anew.lab.faults.audit import INVARIANTS, Violation
from anew.lab.faults.campaign import Campaign, FaultReport, FaultRun, RunRecord, simulate_faults
from anew.lab.faults.kinds import FAULTS, read_faults

__all__ = [
    "FAULTS",
    "INVARIANTS",
    "Campaign",
    "FaultReport",
    "FaultRun",
    "RunRecord",
    "Violation",
    "read_faults",
    "simulate_faults",
]
