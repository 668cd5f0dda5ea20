"""`situs` and `python -m situs`: the program from its first moment to its last."""

import _signal  # type: ignore[import-not-found]  # of Python itself: loading it runs no code

# Until the program is loaded there is nothing to clear up: a Ctrl-C ends it at once, without a
# word. Python's own answer, an exception in the middle of an import, would be a traceback. After
# the program has said its last word it is the same again.
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)

import gc

# Records hold plain values and never each other, and what is loaded stays: there is hardly a cycle
# to collect, and to look for one among millions of values takes a fifth of the time. It is looked
# for a hundred times less often.
_COLLECT_AFTER = 70_000, 20, 20


def main() -> None:
    """Load the program and run it."""
    gc.set_threshold(*_COLLECT_AFTER)
    from situs.base.lazy import load_lightly

    load_lightly()
    from situs.cli import main as run

    run()


if __name__ == "__main__":
    main()
