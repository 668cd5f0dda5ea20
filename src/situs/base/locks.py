"""Keeping other processes out of a file, on systems that have different words for it."""

from __future__ import annotations

import errno

__all__ = ["try_lock"]

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems answer that know no locks; there one does without."""


def try_lock(descriptor: int) -> None:
    """Lock an open file until it is closed. Raises `BlockingIOError` if another process has it."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError as error:
            raise BlockingIOError(error.errno, error.strerror) from error
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
