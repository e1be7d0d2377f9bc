"""Running a model over a file, on an engine made for that."""
