"""The lab: an experiment is a function that yields rows, with claims and a figure."""

from tellapart.lab.experiment import Experiment, Figure, Rows, Verdict, experiment, load
from tellapart.lab.report import Result, run

__all__ = ["Experiment", "Figure", "Result", "Rows", "Verdict", "experiment", "load", "run"]
