"""One experiment a file; `tellapart.lab.experiment.EXPERIMENTS` has their order."""
