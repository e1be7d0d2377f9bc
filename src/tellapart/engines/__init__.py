"""Running a model over a file, with Polars, DuckDB or Spark."""

from tellapart.engines.predict import Predicted, predict_file

__all__ = ["Predicted", "predict_file"]
