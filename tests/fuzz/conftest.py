"""What is in this folder is run by hand: see the files."""

collect_ignore_glob = ["fuzz_*.py"]
