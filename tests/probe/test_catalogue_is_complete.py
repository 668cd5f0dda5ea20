"""Every probe of the catalogue can be run, and nothing else."""

from situs.probe.catalogue import PROBES
from situs.probe.suite import REPRESENTATIONS, RUNS, WITHHOLDING


def test_every_probe_has_its_way_of_running():
    assert set(RUNS) == set(PROBES)


def test_every_blind_probe_says_what_is_shown():
    assert set(WITHHOLDING) == {name for name, probe in PROBES.items() if probe.kind == "blind"}
    kinds = {PROBES[name].kind for name in REPRESENTATIONS}
    assert kinds == {"representation"}
