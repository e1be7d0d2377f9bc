"""Numbers for whoever watches the server, in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

EDGES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters, and how long requests took.

    >>> metrics = Metrics()
    >>> metrics.request("GET", "/health", 200, 0.002)
    >>> print(metrics.text({"tellapart_open_sessions": 1}).splitlines()[2])
    tellapart_requests_total{method="GET",route="/health",status="200"} 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[float]] = {}
        self._refused: Counter[str] = Counter()
        self._answers: Counter[str] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request that was answered."""
        with self._lock:
            self._requests[method, route, status] += 1
            times = self._times.setdefault(route, [0.0] * (len(EDGES) + 2))
            for n, edge in enumerate(EDGES):
                times[n] += seconds <= edge
            times[-2] += 1
            times[-1] += seconds

    def refuse(self, kind: str) -> None:
        """A request that the gate did not let in."""
        with self._lock:
            self._refused[kind] += 1

    def answer(self, outcome: str | None) -> None:
        """An answer that a teacher gave."""
        with self._lock:
            self._answers[outcome or "none"] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Everything, and some numbers of the moment."""
        with self._lock:
            lines = _head("tellapart_requests_total", "counter", "Requests answered.")
            for (method, route, status), times in sorted(self._requests.items()):
                tags = _tags(method=method, route=route, status=str(status))
                lines.append(f"tellapart_requests_total{tags} {times}")
            lines += _head("tellapart_request_seconds", "histogram", "How long they took.")
            for route, buckets in sorted(self._times.items()):
                for n, edge in enumerate(EDGES):
                    tags = _tags(route=route, le=f"{edge:g}")
                    lines.append(f"tellapart_request_seconds_bucket{tags} {buckets[n]:g}")
                tags = _tags(route=route, le="+Inf")
                lines.append(f"tellapart_request_seconds_bucket{tags} {buckets[-2]:g}")
                lines.append(f"tellapart_request_seconds_sum{_tags(route=route)} {buckets[-1]:.6f}")
                lines.append(f"tellapart_request_seconds_count{_tags(route=route)} {buckets[-2]:g}")
            lines += _head("tellapart_refused_total", "counter", "Requests not let in, by reason.")
            for kind, times in sorted(self._refused.items()):
                lines.append(f"tellapart_refused_total{_tags(kind=kind)} {times}")
            lines += _head("tellapart_answers_total", "counter", "Answers taken, by outcome.")
            for outcome, times in sorted(self._answers.items()):
                lines.append(f"tellapart_answers_total{_tags(outcome=outcome)} {times}")
        for name, value in gauges.items():
            lines += [*_head(name, "gauge", name.replace("_", " ") + "."), f"{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]


def _tags(**tags: str) -> str:
    def safe(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

    return "{" + ",".join(f'{name}="{safe(value)}"' for name, value in tags.items()) + "}"
