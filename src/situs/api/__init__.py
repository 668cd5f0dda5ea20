"""What `import situs` offers: one function for each command, with the same names and defaults.

Paths may be text or `Path`; a bench, a run or any other result may be given wherever its folder is asked for. A model
is a spec, as on the command line, or any object with `answer(request)`. A user's mistake is a `SitusError`.
"""

from situs.api import build, import_
from situs.api.asking import ask, compare, probe, score
from situs.api.benches import Bench, check, debias, open_bench
from situs.api.pictures import Pictures, show
from situs.api.results import Result
from situs.api.writing import export, measure, report

run = ask
"""`situs.run`; the function is called `ask` here because `situs.run` is a package too."""

__all__ = [
    "Bench",
    "Pictures",
    "Result",
    "build",
    "check",
    "compare",
    "debias",
    "export",
    "import_",
    "measure",
    "open_bench",
    "probe",
    "report",
    "run",
    "score",
    "show",
]
