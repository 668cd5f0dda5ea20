"""What `import situs` offers: one function for each command, with the same names and defaults.

Paths may be text or `Path`; a bench, a run or any other result may be given wherever its folder is
asked for. A model is a spec, as on the command line, or any object with `answer(request)`. A user's
mistake is a `SitusError`.
"""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports

if TYPE_CHECKING:
    from situs.api import build, import_

    # The function is called `ask` there because `situs.run` is a package too.
    from situs.api.asking import ask as run
    from situs.api.asking import compare, probe, score
    from situs.api.benches import Bench, check, debias, open_bench
    from situs.api.pictures import Pictures, show
    from situs.api.results import Result
    from situs.api.writing import export, measure, report
else:
    __getattr__ = lazy_exports(__name__)

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
