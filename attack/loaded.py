"""Everything that a command loads, so that a fork of this process can begin at once."""

import importlib
import pkgutil

import situs.cli

for _module in pkgutil.iter_modules(situs.cli.__path__, "situs.cli."):
    importlib.import_module(_module.name)
for _name in (
    "bench",
    "build",
    "facts",
    "measure",
    "probe",
    "report",
    "review",
    "run",
    "score",
    "export",
    "volumes",
):
    importlib.import_module(f"situs.{_name}")
