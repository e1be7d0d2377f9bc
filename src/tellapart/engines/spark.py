"""Spark sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tellapart.errors import MissingExtra


def session(master: str | None = None, more: Mapping[str, str] | None = None) -> Any:
    """A Spark session: on this machine ("local[*]"), or on the cluster that `master` names.

    Times are read in UTC, and names of columns as they are written.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("The engine spark", "spark") from None
    builder = SparkSession.builder.appName("tellapart").master(master or "local[*]")
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if (master or "local").startswith("local"):  # nobody else has to find us
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, value in {**settings, **(more or {})}.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
