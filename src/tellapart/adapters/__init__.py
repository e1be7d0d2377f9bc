"""tellapart as a classifier of other libraries."""
