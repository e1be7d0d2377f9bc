"""Fuzz the feature language with atheris, which watches the branches that are taken.

    pip install atheris
    python tests/fuzz/fuzz_language.py -max_total_time=60 -max_len=300

Stops at the first input that is neither a feature nor a FeatureError, or that takes over 100 ms.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent.parent))
with atheris.instrument_imports(include=["tellapart", "sqlglot"]):
    from random_features import PIECES, SCHEMA
    from tellapart.errors import FeatureError
    from tellapart.features import parse_feature

warnings.simplefilter("error")
SLOW = 10
"""Instrumented code is slower by about so much."""


def one_input(data: bytes) -> None:
    source = atheris.FuzzedDataProvider(data)
    if source.ConsumeBool():
        text = source.ConsumeUnicode(len(data))
    else:  # words find more than letters do
        picks = source.ConsumeBytes(len(data))
        text = " ".join(PIECES[pick % len(PIECES)] for pick in picks)
    started = time.thread_time()
    try:
        feature = parse_feature(text, SCHEMA)
    except FeatureError:
        feature = None
    if time.thread_time() - started > 0.1 * SLOW:
        raise AssertionError(f"too slow: {text!r}")
    if feature is not None and parse_feature(str(feature), SCHEMA) != feature:
        raise AssertionError(f"not canonical: {text!r}")


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
