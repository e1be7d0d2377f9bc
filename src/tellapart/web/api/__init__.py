"""The HTTP API, a file for each part of it; `schemas` has what is sent and what is answered."""
