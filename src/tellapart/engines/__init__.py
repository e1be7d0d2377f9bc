"""Running a model over a file, on an engine made for that."""

from tellapart.engines.output import Predicted
from tellapart.engines.predict import predict_file

__all__ = ["Predicted", "predict_file"]
