"""The lab: every theorem as a table and a picture."""

from tellapart.lab.experiment import (
    EXPERIMENTS,
    Cell,
    Experiment,
    Finding,
    Picture,
    Row,
    Table,
    load,
)
from tellapart.lab.laboratory import plan, run
from tellapart.lab.report import Result

__all__ = [
    "EXPERIMENTS",
    "Cell",
    "Experiment",
    "Finding",
    "Picture",
    "Result",
    "Row",
    "Table",
    "load",
    "plan",
    "run",
]
