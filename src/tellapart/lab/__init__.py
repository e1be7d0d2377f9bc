"""The lab: every theorem as a table and a picture."""

from tellapart.lab.experiment import (
    EXPERIMENTS,
    Cell,
    Experiment,
    Finding,
    Picture,
    Row,
    Rows,
    Table,
    load,
)
from tellapart.lab.report import Result, plan, run

__all__ = [
    "EXPERIMENTS",
    "Cell",
    "Experiment",
    "Finding",
    "Picture",
    "Result",
    "Row",
    "Rows",
    "Table",
    "load",
    "plan",
    "run",
]
