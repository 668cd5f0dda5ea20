"""What asking costs: client CPU per item, memory and answers per second beside the openai SDK and
Inspect. Prints JSON.

Usage: python benchmarks/runner.py [--items 4000] [--picture-items 400] [--long 40000] [--only situs
openai inspect]

A server in a process of its own answers at once, on loopback. Situs goes the whole way: requests
made one by one, response cache, journal flushed per answer. The SDK does the least one can do with
it: a plain asyncio loop with a semaphore, answers kept in memory. Both keep 32 calls in flight and
have eight encoded slices at hand. Inspect runs its own `eval` of the same samples. CPU is of the
client's process, threads included; import and start-up are not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import importlib.util
import io
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

QUESTION = (
    "Which kidney is larger by volume? (A) the left (B) the right (C) they differ by less than 5 %."
    " Item {}."
)
IN_FLIGHT = 32
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "(A)"},
            }
        ],
        "usage": {"prompt_tokens": 3000, "completion_tokens": 3, "total_tokens": 3003},
    }
).encode()


class Answering(asyncio.Protocol):
    """HTTP as lean as it can be: reads a request by its Content-Length and sends the same reply."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._head = bytearray()
        self._left = -1

    def data_received(self, data: bytes) -> None:
        while data:
            if self._left < 0:
                self._head += data
                end = self._head.find(b"\r\n\r\n")
                if end < 0:
                    return
                lower = bytes(self._head[:end]).lower()
                start = lower.find(b"content-length:") + 15
                self._left = int(
                    lower[start : lower.find(b"\r\n", start) if b"\r\n" in lower[start:] else None]
                )
                data = bytes(self._head[end + 4 :])
                self._head.clear()
            taken = min(len(data), self._left)
            self._left -= taken
            data = data[taken:]
            if self._left == 0:
                self._left = -1
                head = (
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:"
                    b" %d\r\n\r\n" % len(REPLY)
                )
                self._transport.write(head + REPLY)


def serve(pipe: Connection) -> None:
    """Serve until killed; the port goes into the pipe."""

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def slices() -> list[bytes]:
    """Eight PNGs of 448 × 448 with the grain of a CT."""
    import numpy as np
    from PIL import Image

    rng = np.random.default_rng(0)
    made = []
    for number in range(8):
        y, x = np.mgrid[:448, :448]
        body = 120 * (((x - 224) / 190) ** 2 + ((y - 224 - number) / 150) ** 2 < 1)
        grey = np.clip(body + rng.normal(0, 6, (448, 448)), 0, 255).astype(np.uint8)
        stream = io.BytesIO()
        Image.fromarray(grey).save(stream, "png")
        made.append(stream.getvalue())
    return made


def spent() -> float:
    """CPU seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_mib() -> float:
    """Memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def measured(cpu: float, wall: float, items: int, memory: list[float]) -> dict[str, float]:
    """Per item."""
    return {
        "items": items,
        "cpu_ms_per_item": round(1000 * cpu / items, 4),
        "answers_per_second": round(items / wall, 1),
        "memory_mib_first": round(memory[0], 1),
        "memory_mib_last": round(memory[-1], 1),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def run_situs(port: int, items: int, pictures: bool) -> dict[str, float]:
    """The whole way of `situs run` but for reading the bench and rendering."""
    from situs.clients import (
        Image,
        Limits,
        Message,
        Request,
        ResponseCache,
        Settings,
        Terms,
        ask,
        make_client,
        parse_spec,
    )
    from situs.run import AnswerRow, Journal

    images = (
        tuple(Image(data, "image/png", f"{n}", 448, 448) for n, data in enumerate(slices()))
        if pictures
        else ()
    )
    settings = Settings(max_tokens=64)
    memory: list[float] = []

    def requests(count: int, first: int = 0) -> Any:
        for number in range(first, first + count):
            if number % max(1, items // 8) == 0:
                memory.append(resident_mib())
            yield Request(
                f"item{number}", (Message("user", (*images, QUESTION.format(number))),), settings
            )

    with (
        tempfile.TemporaryDirectory() as folder,
        Journal(Path(folder) / "answers.jsonl") as journal,
    ):
        cache = ResponseCache(Path(folder))

        def record(request: Any, reply: Any, seconds: float) -> None:
            journal.add(
                AnswerRow(
                    request.key,
                    reply.state,
                    reply.text,
                    reply.usage,
                    round(seconds, 3),
                    reply.error,
                )
            )

        def go(count: int, first: int = 0) -> None:
            client = make_client(parse_spec(f"openai:bench@http://127.0.0.1:{port}/v1"))
            terms = Terms(True, limits=Limits(concurrency=IN_FLIGHT))
            done = ask(client, requests(count, first), record, terms, cache=cache)
            assert done.tally.states == {"answered": count}, done

        go(50, 10_000_000)
        memory.clear()
        cpu, begin = spent(), time.perf_counter()
        go(items)
        result = measured(spent() - cpu, time.perf_counter() - begin, items, memory)
        cache.close()
    return result


def run_openai(port: int, items: int, pictures: bool) -> dict[str, float]:
    """The SDK in a plain asyncio loop."""
    from openai import AsyncOpenAI

    uris = (
        [f"data:image/png;base64,{base64.b64encode(data).decode()}" for data in slices()]
        if pictures
        else []
    )
    shown: list[Any] = [{"type": "image_url", "image_url": {"url": uri}} for uri in uris]
    memory: list[float] = []
    answers: list[str] = []

    async def go(count: int) -> None:
        client = AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)
        turns = asyncio.Semaphore(IN_FLIGHT)

        async def one(number: int) -> None:
            words = QUESTION.format(number)
            content = [*shown, {"type": "text", "text": words}] if shown else words
            try:
                reply = await client.chat.completions.create(
                    model="bench",
                    messages=[{"role": "user", "content": content}],
                    temperature=0.0,
                    max_tokens=64,
                )
                answers.append(reply.choices[0].message.content or "")
            finally:
                turns.release()

        tasks = set()
        for number in range(count):
            if number % max(1, items // 8) == 0:
                memory.append(resident_mib())
            await turns.acquire()
            task = asyncio.create_task(one(number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        await client.close()

    asyncio.run(go(50))
    memory.clear()
    answers.clear()
    cpu, begin = spent(), time.perf_counter()
    asyncio.run(go(items))
    assert len(answers) == items
    return measured(spent() - cpu, time.perf_counter() - begin, items, memory)


def run_inspect(port: int, items: int, pictures: bool) -> dict[str, float]:
    """Inspect's own eval, with nothing to score."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, get_model
    from inspect_ai.solver import generate

    uris = (
        [f"data:image/png;base64,{base64.b64encode(data).decode()}" for data in slices()]
        if pictures
        else []
    )

    def sample(number: int) -> Sample:
        words = ContentText(text=QUESTION.format(number))
        return Sample(
            input=[ChatMessageUser(content=[*(ContentImage(image=uri) for uri in uris), words])]
        )

    model = get_model(
        "openai-api/bench/bench", base_url=f"http://127.0.0.1:{port}/v1", api_key="none"
    )
    with tempfile.TemporaryDirectory() as folder:

        def go(count: int) -> None:
            task = Task(dataset=MemoryDataset([sample(n) for n in range(count)]), solver=generate())
            log = evaluate(
                task,
                model=model,
                display="none",
                log_dir=folder,
                max_connections=IN_FLIGHT,
                max_tokens=64,
            )[0]
            assert log.status == "success", log.error

        go(20)
        memory = [resident_mib()]
        cpu, begin = spent(), time.perf_counter()
        go(items)
        memory.append(resident_mib())
        return measured(spent() - cpu, time.perf_counter() - begin, items, memory)


RESUME = """
import json, sys, time
begin = time.perf_counter()
from pathlib import Path
from situs.bench import open_bench
from situs.clients import make_client
from situs.profiles import load_profile
from situs.run import parse_spec, run_client
spec = parse_spec(sys.argv[1])
bench, out = open_bench(Path(sys.argv[2])), Path(sys.argv[3])
result = run_client(bench, make_client(spec), spec, None, load_profile("default"), out)
assert result.requests == 0 and result.states == {"answered": result.items}
print(json.dumps({"items": result.items, "seconds": round(time.perf_counter() - begin, 3)}))
"""


def resume(items: int) -> dict[str, float]:
    """A run in whose journal every item is answered,
    started again in a process of its own; imports are counted."""
    from situs.bench import open_bench
    from situs.clients import make_client, parse_spec, settings_for
    from situs.profiles import load_profile
    from situs.run import AnswerRow, Journal
    from situs.run.folder import Conditions, start_run

    spec = parse_spec("openai:bench@http://127.0.0.1:9/v1")
    with tempfile.TemporaryDirectory() as scratch:
        folder, out, given = (Path(scratch) / name for name in ("bench", "run", "items.jsonl"))
        rows = (
            {"study": f"s{n // 40}", "question": QUESTION.format(n), "answer": "yes"}
            for n in range(items)
        )
        given.write_text("\n".join(map(json.dumps, rows)))
        program = [
            sys.executable,
            "-m",
            "situs",
            "import",
            "items",
            str(given),
            "--out",
            str(folder),
        ]
        subprocess.run(program, check=True, capture_output=True)
        bench, client, usage = (
            open_bench(folder),
            make_client(spec),
            {"prompt_tokens": 3000.0, "completion_tokens": 3.0},
        )
        sampling = settings_for(client, spec)
        start_run(
            out,
            bench,
            spec,
            load_profile("default"),
            conditions=Conditions(client=client.name, sampling=sampling),
        )
        with Journal(out / "answers.jsonl") as journal:
            for item in bench.items():
                journal.add(AnswerRow(item.item_id, "answered", "(A) " * 40, usage, 1.0))
        command = [sys.executable, "-c", RESUME, str(spec), str(folder), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        result: dict[str, float] = json.loads(done.stdout)
        return result


def in_own_process(who: str, port: int, items: int, pictures: bool) -> dict[str, float]:
    """Measure one way of asking, away from the others' memory."""
    command = [
        sys.executable,
        __file__,
        "--measure",
        who,
        str(port),
        str(items),
        str(int(pictures)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Measure all that is installed, side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=4000)
    parser.add_argument("--picture-items", type=int, default=400)
    parser.add_argument(
        "--long", type=int, default=40_000, help="items of the long run of Situs; 0 leaves it out"
    )
    parser.add_argument("--only", nargs="*", default=["situs", "openai", "inspect"])
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    ways = {"situs": run_situs, "openai": run_openai, "inspect": run_inspect}
    if options.measure:
        who, port, items, pictures = options.measure
        print(json.dumps(ways[who](int(port), int(items), bool(int(pictures)))))
        return
    modules = {"situs": "situs", "openai": "openai", "inspect": "inspect_ai"}
    installed = [who for who in options.only if importlib.util.find_spec(modules[who])]
    mine, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = mine.recv()
    result: dict[str, Any] = {
        "in_flight": IN_FLIGHT,
        "not_installed": sorted(set(options.only) - set(installed)),
    }
    for name, items, pictures in (
        ("text", options.items, False),
        ("eight_slices", options.picture_items, True),
    ):
        slow = {"inspect": 8}
        result[name] = {
            who: in_own_process(who, port, items // slow.get(who, 1), pictures) for who in installed
        }
        if {"situs", "openai"} <= set(installed):
            ratio = (
                result[name]["openai"]["cpu_ms_per_item"] / result[name]["situs"]["cpu_ms_per_item"]
            )
            result[name]["leaner_than_openai"] = round(ratio, 2)
    if options.long:
        result["long"] = in_own_process("situs", port, options.long, False)
        result["resume"] = resume(options.long)
    server.terminate()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
