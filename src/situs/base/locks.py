"""Keeping other processes out of a file, on systems that have different words for it."""

from __future__ import annotations

import errno
import os

__all__ = ["try_lock"]

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems answer that know no locks; there one does without."""


_LOCKED_BYTE = 0x7FFF_FFFE
"""Windows keeps others from reading what is locked:
a byte far behind the end of the file is locked instead."""


def try_lock(descriptor: int) -> None:
    """Lock an open file until it is closed. Raises `BlockingIOError` if another process has it."""
    try:
        import fcntl
    except ImportError:
        _try_lock_byte(descriptor)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _try_lock_byte(descriptor: int) -> None:
    """Lock as Windows does: a stretch of bytes from where the file stands."""
    import msvcrt

    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    except OSError as error:
        raise BlockingIOError(error.errno, error.strerror) from error
    finally:
        os.lseek(descriptor, position, os.SEEK_SET)
