# SPDX-License-Identifier: Apache-2.0
"""Arrays in files that have no name: they are gone with the process that made them, however it ends."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError

Array = NDArray[Any]
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


class Spill:
    """Arrays one after another in a file of the folder for temporary files (`TMPDIR`).

    Plain reads and writes: pages of a mapped file would count as memory of the process.

    >>> with Spill() as spill:
    ...     place = spill.append(np.arange(5, dtype=np.uint8))
    ...     spill.write(place + 1, np.array([9], dtype=np.uint8))
    ...     spill.read(place, 3, np.uint8).tolist()
    [0, 9, 2]
    """

    def __init__(self) -> None:
        try:
            self._file = tempfile.TemporaryFile(prefix="shoal-", buffering=0)  # noqa: SIM115  # `close` closes it
        except OSError as error:
            raise _no_room(error) from None
        self._end = 0

    def append(self, array: Array) -> int:
        """Write an array after all others; where it is, in bytes."""
        place, self._end = self._end, self._end + array.nbytes
        self.write(place, array)
        return place

    def reserve(self, n_bytes: int) -> int:
        """Keep room after all others, which takes none before it is written to; where it is."""
        place, self._end = self._end, self._end + n_bytes
        try:
            os.ftruncate(self._file.fileno(), self._end)
        except OSError as error:
            raise _no_room(error) from None
        return place

    def write(self, place: int, array: Array) -> None:
        """Write an array at a place."""
        left = memoryview(np.ascontiguousarray(array)).cast("B") if array.size else memoryview(b"")
        try:
            while left:
                done = os.pwrite(self._file.fileno(), left, place)
                left, place = left[done:], place + done
        except OSError as error:
            raise _no_room(error) from None

    def read(self, place: int, n: int, dtype: Any) -> Array:
        """An array of `n` elements from a place."""
        array = np.empty(n, dtype=dtype)
        left = memoryview(array).cast("B") if n else memoryview(b"")
        while left:
            done = os.preadv(self._file.fileno(), [left], place)
            if not done:
                raise DataError("damaged-file", "A temporary file of Shoal's ends too early. Is another program at it?")
            left, place = left[done:], place + done
        return array

    def close(self) -> None:
        """Give the room back."""
        self._file.close()

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _no_room(error: OSError) -> Exception:
    """A full disk, in one sentence; anything else as it is."""
    if error.errno not in _NO_ROOM:
        return error
    return DataError(
        "disk-full",
        "There is no room left for temporary files: Shoal needs about 5 bytes a row and column. Free some, or set "
        "TMPDIR to a folder with more.",
    )
