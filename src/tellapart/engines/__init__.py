"""Running a model over a table, with Polars, DuckDB or Spark."""

from tellapart.engines.predict import Predicted, predict_file, predict_frame

__all__ = ["Predicted", "predict_file", "predict_frame"]
