"""What another policy would have made of past runs, without executing anything."""

from anew.lab.whatif.analysis import SAMPLES_DEFAULT, whatif
from anew.lab.whatif.estimates import Estimate
from anew.lab.whatif.playable_runs import PastRun
from anew.lab.whatif.verdict import RunVerdict, Whatif

__all__ = ["SAMPLES_DEFAULT", "Estimate", "PastRun", "RunVerdict", "Whatif", "whatif"]
