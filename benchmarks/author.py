"""What authoring costs at size: CPU of ours per ask, and memory as the number of studies grows.
Prints JSON.

Usage: python benchmarks/author.py [--studies 40 80] [--per-study 20] [--asks 1000 10000]

`--asks` leaves out patients: so many questions go to one panel member through the same desk,
journal and client, in a process of its own. That is what an ask costs us, and what it leaves in
memory, at a size that whole studies reach in hours only.

Phantom patients (masks on 5 mm voxels) are built into benches of so many studies. Each bench is
authored twice: with no role, which is what measuring and arranging cost, and with every role played
by a scripted server in a process of its own, which answers at once on loopback. The CPU of an ask
is the difference, over the number of asks: words, checks, journals, HTTP, proofs of wordings and
statistics. Wanted: 500 studies of 20 questions at most 2 ms an ask, memory flat.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_ROLES = {
    "words questions": "writer",
    "plans an exam": "planner",
    "medical librarian": "librarian",
    "vet exam questions": "critic",
    "cannot see": "panel",
}
_QUOTE = "Distance to vessels decides on resection."


def play(role: str, shown: dict[str, Any]) -> dict[str, Any]:
    """What a role says to what it is shown."""
    if role == "writer":
        first = shown["examples"][0]
        return {"action": "word", "wordings": [f"On this scan, {first[0].lower()}{first[1:]}"]}
    if role == "planner":
        if not shown["so_far"]:
            return {"action": "candidates"}
        if len(shown["so_far"]) == 1:
            ids = [one["id"] for one in shown["so_far"][0]["result"]["shown"]]
            return {"action": "propose", "ids": ids}
        return {"action": "stop"}
    if role == "librarian":
        return {"action": "cite", "pmid": 7, "quote": _QUOTE}
    if role == "critic":
        odd = re.search(r"or is it the other one|of course", shown["question"])
        return (
            {"action": "flag", "flags": ["gives_away"], "words": [odd[0]]}
            if odd
            else {"action": "pass"}
        )
    return {"action": "answer", "answer": "a"}


class Scripted(BaseHTTPRequestHandler):
    """Plays every role."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """One ask."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        task = body["messages"][0]["content"]
        role = next(name for words, name in _ROLES.items() if words in task)
        text = json.dumps(play(role, json.loads(body["messages"][-1]["content"])))
        message = {"role": "assistant", "content": text}
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 330},
        }
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class names it)
        """Nothing is logged."""


def serve(told: Connection) -> None:
    """Serve until the process is ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    told.send(server.server_address[1])
    server.serve_forever()


def write_patients(root: Path, count: int) -> None:
    """Masks of phantom patients."""
    import nibabel
    import numpy as np

    from situs.volumes.phantoms import plan_patient, rasterize

    for index in range(count):
        plan = plan_patient(7, index, spacing_mm=(5.0, 5.0, 5.0))
        folder = root / f"patient{index:04d}" / "segmentations"
        folder.mkdir(parents=True)
        for structure in plan.truth.structures:
            mask = rasterize(structure.shape, plan.grid).astype(np.uint8)
            image = nibabel.Nifti1Image(mask, plan.grid.affine.matrix)  # type: ignore[no-untyped-call]
            nibabel.save(image, folder / f"{structure.name}.nii.gz")  # type: ignore[attr-defined]


def situs(*words: object) -> tuple[dict[str, Any], float, float]:
    """What a command prints as JSON, its CPU seconds and its peak memory in MB."""
    command = [sys.executable, "-m", "situs", *map(str, words), "--json"]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        out.seek(0)
        printed = json.load(out)
    return printed, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0


def measure(folder: Path, studies: int, per_study: int, spec: str) -> dict[str, float]:
    """Author a bench of so many studies without and with roles."""
    bench, library = folder / f"bench{studies}", folder / "library"
    write_patients(folder / f"data{studies}", studies)
    build = ("build", "masks", folder / f"data{studies}", "--annotation", "exact")
    situs(*build, "--tasks", "compose", "--out", bench)
    few = ("--per-study", per_study)
    _, cpu_alone, mb_alone = situs("author", bench, "--out", folder / f"t{studies}", *few)
    roles = ["--planner", spec, "--writer", spec, "--librarian", spec, "--library", library]
    roles += ["--critic", f"{spec}?name=c", "--panel", f"{spec}?name=p1"]
    roles += ["--panel", f"{spec}?name=p2", "--no-cache"]
    started = time.monotonic()
    result, cpu, mb = situs("author", bench, "--out", folder / f"pw{studies}", *few, *roles)
    seconds = time.monotonic() - started
    asks = sum(state["asks"] for state in result["roles"].values())
    return {
        "studies": studies,
        "items": result["items"],
        "asks": asks,
        "cpu_without_roles_s": round(cpu_alone, 2),
        "cpu_s": round(cpu, 2),
        "ms_per_ask": round(1000.0 * (cpu - cpu_alone) / max(1, asks), 3),
        "wall_s": round(seconds, 1),
        "mb_without_roles": round(mb_alone),
        "mb": round(mb),
    }


def ask_alone(count: int, spec: str) -> dict[str, float]:
    """Put so many questions to one panel member; CPU per ask, and how far memory grew."""
    import resource

    from situs.agents.author import panel_role
    from situs.build.authoring.roles import Desk, Purse
    from situs.clients import Asking
    from situs.judges import asker_of

    asker = asker_of(spec, "--panel", Asking(no_cache=True), None)
    question = "Of the structures within 10 mm of the largest liver lesion, which is the highest?"
    options = ["the aorta", "the duodenum", "the gallbladder", "the right kidney"]

    def shown(first: int, last: int) -> dict[str, dict[str, Any]]:
        return {
            f"q{n}": {"question": f"{question} {n}", "options": options} for n in range(first, last)
        }

    with tempfile.TemporaryDirectory() as name:
        desk = Desk(Path(name), restricted=True, purse=Purse())
        desk.ask("panel", asker, panel_role(), shown(0, 100), "warm")  # imports, connections
        used = resource.getrusage(resource.RUSAGE_SELF)
        before, mb = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024.0
        entries = desk.ask("panel", asker, panel_role(), shown(100, 100 + count), "panel")
        used = resource.getrusage(resource.RUSAGE_SELF)
    # One question a request: an ask of ours is a request of the server's.
    assert len(entries) == count == desk.states["panel"].asks - 100
    cpu = used.ru_utime + used.ru_stime - before
    return {
        "asks": count,
        "ms_per_ask": round(1000.0 * cpu / count, 3),
        "mb": round(used.ru_maxrss / 1024.0),
        "kb_per_ask": round(1024.0 * (used.ru_maxrss / 1024.0 - mb) / count, 2),
    }


def main() -> None:
    """Measure at every size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, nargs="+", default=[40, 80])
    parser.add_argument("--per-study", type=int, default=20)
    parser.add_argument("--asks", type=int, nargs="+", default=[])
    given = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    spec = f"openai:scripted@http://127.0.0.1:{ours.recv()}/v1"
    if given.asks:
        # A new process for each size: peaks of memory are of a process.
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            print(json.dumps(pool.starmap(ask_alone, [(n, spec) for n in given.asks], 1), indent=2))
        server.terminate()
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        row = {"pmid": 7, "title": "Resection", "abstract": _QUOTE}
        (folder / "abstracts.jsonl").write_text(json.dumps(row) + "\n")
        situs("library", "build", folder / "abstracts.jsonl", "--out", folder / "library")
        results = [measure(folder, size, given.per_study, spec) for size in given.studies]
    server.terminate()
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
