"""`tellapart bench`: how fast we are, as ratios measured in one run."""

from tellapart.lab.bench.measured import Bench, Limit, Measurement
from tellapart.lab.bench.run import bench

__all__ = ["Bench", "Limit", "Measurement", "bench"]
