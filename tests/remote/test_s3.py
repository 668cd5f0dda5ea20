"""Studies in, bench out, at a bucket:
the same bytes as from a disk, whatever the connection does."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from situs.bench import open_bench

pytestmark = [
    pytest.mark.remote,
    # boto warns of old Pythons, and aiohttp of sessions that a cut connection left.
    pytest.mark.filterwarnings("ignore"),
]

OPEN = ("--annotation", "exact", "--licence", "CC-BY-4.0")


@pytest.fixture(scope="session")
def scans(once, label_phantoms) -> Path:
    """Two patients as folders of masks."""
    return once("remote-scans", lambda folder: label_phantoms(folder, 1, 2))


@pytest.fixture(scope="session")
def built(once, situs, scans) -> Path:
    """Their bench, built from the disk."""

    def make(folder: Path) -> None:
        ran = situs("build", "masks", scans, *OPEN, "--out", folder / "bench")
        assert ran.code == 0, ran.err

    return once("remote-built", make) / "bench"


def content_hash(bench: Path) -> str:
    return open_bench(bench).info.content_hash


def copies(cache: Path) -> list[Path]:
    """Files of the cache that hold content."""
    root = cache / "situs-remote"
    return [
        file
        for file in root.rglob("*")
        if file.is_file() and stat.S_IMODE(file.stat().st_mode) & 0o400 and file.suffix != ".sqlite"
    ]


def test_from_studies_to_report_without_a_file_of_ones_own(
    bucket, situs, scans, built, tmp_path
) -> None:
    bucket.put(scans, "scans")
    bench, run = bucket.url("made/bench"), bucket.url("runs/oracle")
    ran = situs("build", "masks", bucket.url("scans"), *OPEN, "--out", bench, "--json")
    assert ran.code == 0, ran.err
    told = json.loads(bucket.files.cat(f"{bench}/bench.json"))
    assert told["content_hash"] == content_hash(built)
    # Where the evidence lies is stored as an address, so that other machines find it too.
    places = json.loads(bucket.files.cat(f"{bench}/locations.json")).values()
    assert all(place.startswith(bucket.url("scans/patient")) for place in places)

    checked = situs("check", bench, "--json")
    assert checked.code == 0
    assert checked.json["recomputed"] == told["counts"]["items"]
    assert situs("run", bench, "--model", "oracle", "--out", run).code == 0
    assert {"runs/oracle/answers.jsonl", "runs/oracle/run.json"} <= bucket.names("runs")
    scored = situs("score", bench, run, "--json")
    assert scored.code == 0, scored.err
    assert scored.json["headline"]["value"] == 1.0
    report = bucket.url("report.html")
    assert situs("report", run, "--out", report).code == 0
    assert bucket.files.cat(report).lstrip().lower().startswith(b"<!doctype html")
    other = bucket.url("runs/random")
    assert situs("run", bench, "--model", "random", "--out", other).code == 0
    compared = situs("compare", run, other, "--json")
    assert compared.code == 0, compared.err
    exported = situs("export", run, "--to", "hf", "--out", tmp_path / "exported", "--json")
    assert exported.code == 0, exported.err
    # Nothing that a user reads names the cache.
    for ended in (ran, checked, scored, exported):
        assert "situs-remote" not in ended.out + ended.err


def test_measuring_and_a_table_with_addresses(bucket, situs, scans, built, tmp_path) -> None:
    bucket.put(scans, "scans")
    liver = "patient000/segmentations/liver.nii.gz"
    here = situs("measure", scans / liver, "--names", "totalsegmentator", "--json")
    there = situs("measure", bucket.url(f"scans/{liver}"), "--names", "totalsegmentator", "--json")
    assert there.json == here.json
    rows = [f"s{n},p{n},,{bucket.url(f'scans/patient00{n}/segmentations')}" for n in range(2)]
    table = tmp_path / "cohort.csv"
    table.write_text("\n".join(["study,patient,image,labels", *rows]))
    bucket.files.put_file(str(table), bucket.url("cohort.csv"))
    plain = tmp_path / "plain.csv"
    plain.write_text(
        "\n".join(
            ["study,patient,image,labels"]
            + [f"s{n},p{n},,{scans}/patient00{n}/segmentations" for n in range(2)]
        )
    )
    hashes = set()
    for number, source in enumerate((table, bucket.url("cohort.csv"), plain)):
        out = tmp_path / f"bench{number}"
        ran = situs("build", "masks", source, *OPEN, "--out", out)
        assert ran.code == 0, ran.err
        hashes.add(content_hash(out))
    assert len(hashes) == 1


def test_the_cache_is_private_bounded_and_found_by_purge(
    bucket, situs, scans, tmp_path, monkeypatch
) -> None:
    from situs.base.remote import index

    bucket.put(scans, "scans")
    sizes = [file.stat().st_size for file in scans.rglob("*.nii.gz")]
    limit = sum(sizes) // 4
    assert max(sizes) < limit
    monkeypatch.setenv("SITUS_REMOTE_CACHE_GB", str(limit / 1e9))
    # In a test all is at work within seconds.
    monkeypatch.setattr(index, "_AT_WORK_SECONDS", 0.0)
    most = 0
    add = index.Index.add

    def watched(self, path, size, *, is_table) -> None:
        nonlocal most
        add(self, path, size, is_table=is_table)
        most = max(most, sum(file.stat().st_size for file in copies(tmp_path / "cache")))

    monkeypatch.setattr(index.Index, "add", watched)
    out = tmp_path / "bench"
    assert situs("build", "masks", bucket.url("scans"), *OPEN, "--out", out).code == 0
    assert 0 < most <= limit
    blocks = sum(
        file.stat().st_blocks * 512
        for file in (tmp_path / "cache" / "situs-remote").rglob("*.nii.gz")
    )
    assert blocks <= limit + 4096 * len(sizes)  # a stand-in takes no room, a copy whole blocks
    root = tmp_path / "cache" / "situs-remote"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in copies(tmp_path / "cache"))
    listed = {part["name"]: part["bytes"] for part in situs("purge", "--json").json["found"]}
    assert listed["remote"] > 0
    assert situs("purge", "--yes").code == 0
    assert not root.exists()
    assert situs("check", out).code == 0  # fetched anew


def test_restricted_data_are_written_to_a_bucket_with_the_flag_only(bucket, situs, scans) -> None:
    bucket.put(scans, "scans")
    before = bucket.names()
    command = ("build", "masks", bucket.url("scans"), "--annotation", "exact")
    bucket.seen.clear()
    ran = situs(*command, "--out", bucket.url("bench"))
    assert ran.code == 2
    assert "restricted" in ran.err
    assert "--allow-remote" in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert not any(".nii.gz" in request for request in bucket.seen)  # before work begins
    assert bucket.names() == before
    assert situs(*command, "--out", bucket.url("bench"), "--allow-remote").code == 0
    assert "bench/bench.json" in bucket.names()
    run = ("run", bucket.url("bench"), "--model", "oracle", "--out")
    refused = situs(*run, bucket.url("run"))
    assert refused.code == 2
    assert not bucket.names("run")
    assert situs(*run, bucket.url("run"), "--allow-remote").code == 0
    reported = situs("report", bucket.url("run"), "--out", bucket.url("report.html"))
    assert reported.code == 2
    assert "report.html" not in bucket.names()


def test_paths_of_this_machine_are_not_published(bucket, situs, scans) -> None:
    bench = bucket.url("bench")
    assert situs("build", "masks", scans, *OPEN, "--out", bench).code == 0
    assert json.loads(bucket.files.cat(f"{bench}/locations.json")) == {}


def test_a_broken_connection_is_tried_again_and_a_dead_one_resumes(
    bucket, situs, scans, built, monkeypatch
) -> None:
    from situs.base.remote import store

    monkeypatch.setattr(store, "_FIRST_PAUSE", 0.001)
    bucket.put(scans, "scans")
    bucket.broken += [
        "GET /" + bucket.name + "/scans/patient000/segmentations/liver",
        "GET /" + bucket.name + "/scans/patient001/segmentations/spleen.nii.gz",
        "PUT /" + bucket.name + "/bench/items.parquet",
    ]
    command = ("build", "masks", bucket.url("scans"), *OPEN, "--out", bucket.url("bench"))
    assert situs(*command).code == 0
    assert not bucket.broken
    told = json.loads(bucket.files.cat(bucket.url("bench/bench.json")))
    assert told["content_hash"] == content_hash(built)

    # Cut for good while it is published: no manifest, and the same command puts the rest without
    # building.
    bucket.broken += [f"PUT /{bucket.name}/two/items.parquet"] * 100
    command = (*command[:-1], bucket.url("two"))
    ended = situs(*command)
    assert ended.code == 2
    assert len([line for line in ended.err.splitlines() if "cannot be reached" in line]) == 1
    bucket.broken.clear()
    assert "two/bench.json" not in bucket.names()
    put = bucket.names("two")
    assert put
    bucket.seen.clear()
    again = situs(*command)
    assert again.code == 0, again.err
    assert not any(
        request.startswith(f"PUT /{bucket.name}/{name}") for request in bucket.seen for name in put
    )
    assert not any(".nii.gz" in request for request in bucket.seen)
    told = json.loads(bucket.files.cat(bucket.url("two/bench.json")))
    assert told["content_hash"] == content_hash(built)


def test_a_file_that_was_begun_is_continued(bucket, tmp_path, monkeypatch) -> None:
    from situs.base.remote import fetch, local_input, present, store
    from situs.errors import SitusError

    monkeypatch.setattr(fetch, "_PIECE", 1000)
    monkeypatch.setattr(store, "_FIRST_PAUSE", 0.001)
    content = os.urandom(3500)
    bucket.files.pipe_file(bucket.url("scan.nii"), content)
    path = local_input(bucket.url("scan.nii"))
    assert path.stat().st_size == 3500
    bucket.seen.clear()
    pieces = {"n": 0}
    patiently = fetch.patiently

    def dies_at_the_third(url, *args, **options):
        pieces["n"] += 1
        if pieces["n"] == 3:
            raise SitusError("cannot be reached", where=url)
        return patiently(url, *args, **options)

    monkeypatch.setattr(fetch, "patiently", dies_at_the_third)
    with pytest.raises(SitusError, match="cannot be reached"):
        present(path)
    monkeypatch.setattr(fetch, "patiently", patiently)
    present(path)
    assert path.read_bytes() == content
    assert len(bucket.seen) == 4  # two pieces before, two after


def test_overwriting_leaves_no_mixture(bucket, situs, scans) -> None:
    bench = bucket.url("bench")
    command = ("build", "masks", scans, *OPEN, "--out", bench)
    assert situs(*command).code == 0
    bucket.files.pipe_file(f"{bench}/left.parquet", b"of an earlier version")
    refused = situs(*command)
    assert refused.code == 2
    assert "exists" in refused.err
    assert situs(*command, "--overwrite", "--seed", 1).code == 0
    assert "bench/left.parquet" not in bucket.names()
    # Somebody else's folder is never replaced.
    bucket.files.pipe_file(bucket.url("theirs/notes.txt"), b"keep")
    mixed = situs(*command[:-1], bucket.url("theirs"), "--overwrite")
    assert mixed.code == 2
    assert bucket.names("theirs") == {"theirs/notes.txt"}


def test_an_unfinished_run_resumes_on_another_machine(bucket, situs, built, tmp_path) -> None:
    bench, run = bucket.url("bench"), bucket.url("run")
    bucket.put(built, "bench")
    assert situs("run", bench, "--model", "oracle", "--out", tmp_path / "whole").code == 0
    lines = (tmp_path / "whole" / "answers.jsonl").read_bytes().splitlines(keepends=True)
    assert situs("run", bench, "--model", "oracle", "--out", run).code == 0
    bucket.files.pipe_file(f"{run}/answers.jsonl", b"".join(lines[:5]))
    assert situs("purge", "--yes").code == 0  # as on a machine that has never seen it
    again = situs("run", bench, "--model", "oracle", "--out", run, "--json")
    assert again.code == 0, again.err
    assert again.json["requests"] == len(lines) - 5
    assert len(bucket.files.cat(f"{run}/answers.jsonl").splitlines()) == len(lines)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s3://no-such-bucket/bench", "no such"),
        ("ftp://host/bench", "ftp:// is not known"),
        ("s3://key:secret@bucket/bench", "user name or password"),
        ("https://host/bench?X-Amz-Signature=secret", "query"),
        ("s3://bucket/../bench", "plain address"),
    ],
)
def test_a_bad_address_is_one_line_without_secrets(bucket, situs, address, words) -> None:
    ran = situs("check", address)
    assert ran.code == 2
    assert words in ran.err
    assert "secret" not in ran.err.replace("--", "")
    assert len(ran.err.strip().splitlines()) == 1


def test_no_credentials_is_one_line(bucket, situs, monkeypatch) -> None:
    from situs.base.remote.store import store_of

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    store_of.cache_clear()
    ran = situs("check", bucket.url("bench"))
    assert ran.code == 2
    assert "access is refused" in ran.err
