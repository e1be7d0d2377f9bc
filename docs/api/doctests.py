"""For the site: examples in docstrings are shown as code, under a heading or not."""

from __future__ import annotations

import re
from typing import Any

import griffe


class Doctests(griffe.Extension):
    """Puts the heading "Examples" of numpy's style before the first `>>>` that has none."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and not re.search(
            r"^Examples\n-+$", obj.docstring.value, re.M
        ):
            text = obj.docstring.value
            obj.docstring.value = re.sub(
                r"(^|\n\n)(?=>>> )", r"\1Examples\n--------\n", text, count=1
            )
