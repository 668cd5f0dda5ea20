# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels that decode the bits of a JPEG scan with one component (ITU-T T.81, F.2 and H.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["BAD_CODE", "CUT", "DONE", "ZIGZAG", "decode_blocks", "decode_lossless"]

DONE, CUT, BAD_CODE = 0, 1, 2
"""How a scan ended: whole, with bits missing, or with a code that no table holds."""

_ORDER = sorted(
    range(64), key=lambda n: (n // 8 + n % 8, n // 8 if (n // 8 + n % 8) % 2 else n % 8)
)
ZIGZAG = np.array(_ORDER, dtype=np.int64)
"""Place in the block (row by row) of each coefficient of a scan."""

# The state of the bit reader: place in the data, bits at hand, how many they are, bits read beyond
# the end.
_AT, _BITS, _COUNT, _BEYOND = 0, 1, 2, 3


@kernel
def _fill(data: NDArray[np.uint8], state: NDArray[np.int64]) -> None:
    """Have at least 32 bits at hand; behind a marker or the end there are zeros."""
    while state[_COUNT] <= 32:
        byte = 0
        at = state[_AT]
        if at >= data.size or (data[at] == 0xFF and (at + 1 >= data.size or data[at + 1] != 0)):
            state[_BEYOND] += 8
        else:
            byte = np.int64(data[at])
            state[_AT] += 2 if byte == 0xFF else 1
        state[_BITS] = ((state[_BITS] << 8) | byte) & 0xFFFFFFFFFF
        state[_COUNT] += 8


@kernel
def _take(state: NDArray[np.int64], count: int) -> int:
    """The next bits, which are at hand."""
    state[_COUNT] -= count
    return (state[_BITS] >> state[_COUNT]) & ((1 << count) - 1)


@kernel
def _symbol(data: NDArray[np.uint8], state: NDArray[np.int64], table: NDArray[np.int32]) -> int:
    """The next Huffman symbol, or -1;
    `table` holds 256 × length + symbol for each 16 bits that may follow."""
    _fill(data, state)
    entry = table[(state[_BITS] >> (state[_COUNT] - 16)) & 0xFFFF]
    state[_COUNT] -= entry >> 8
    return entry & 0xFF if entry else -1


@kernel
def _difference(data: NDArray[np.uint8], state: NDArray[np.int64], size: int) -> int:
    """A number of `size` bits, of which the lower half are negative."""
    if size == 0:
        return 0
    _fill(data, state)
    value = _take(state, size)
    return value if value >> (size - 1) else value - (1 << size) + 1


@kernel
def _restart(data: NDArray[np.uint8], state: NDArray[np.int64]) -> bool:
    """Go on behind the restart marker that must come next."""
    at = state[_AT]
    while at + 1 < data.size and data[at] == 0xFF and data[at + 1] == 0xFF:
        at += 1
    if at + 1 >= data.size or data[at] != 0xFF or data[at + 1] < 0xD0 or data[at + 1] > 0xD7:
        return False
    unread = state[_COUNT] - state[_BEYOND]
    state[_AT], state[_BITS], state[_COUNT], state[_BEYOND] = at + 2, 0, 0, 0
    return unread < 8 and unread >= 0


@kernel
def decode_lossless(
    data: NDArray[np.uint8],
    table: NDArray[np.int32],
    predictor: int,
    first: int,
    interval: int,
    columns: int,
    out: NDArray[np.uint16],
) -> int:
    """Pixels row by row, each the sum of a prediction from its neighbours and a coded difference,
    modulo 2¹⁶.

    `first` predicts the first pixel, and the first behind each restart, where rows count anew.
    """
    state = np.zeros(4, dtype=np.int64)
    top = 0
    for i in range(out.size):
        x = i % columns
        if interval > 0 and i > 0 and i % interval == 0:
            if x != 0 or not _restart(data, state):
                return CUT
            top = i
        size = _symbol(data, state, table)
        if size < 0 or size > 16:
            return BAD_CODE
        change = 32768 if size == 16 else _difference(data, state, size)
        if i == top:
            guess = first
        elif i < top + columns:
            guess = np.int64(out[i - 1])
        elif x == 0:
            guess = np.int64(out[i - columns])
        else:
            a, b, c = (
                np.int64(out[i - 1]),
                np.int64(out[i - columns]),
                np.int64(out[i - columns - 1]),
            )
            if predictor == 1:
                guess = a
            elif predictor == 2:
                guess = b
            elif predictor == 3:
                guess = c
            elif predictor == 4:
                guess = a + b - c
            elif predictor == 5:
                guess = a + ((b - c) >> 1)
            elif predictor == 6:
                guess = b + ((a - c) >> 1)
            else:
                guess = (a + b) >> 1
        out[i] = np.uint16((guess + change) & 0xFFFF)
    return DONE if state[_BEYOND] <= state[_COUNT] else CUT


@kernel
def decode_blocks(
    data: NDArray[np.uint8],
    dc_table: NDArray[np.int32],
    ac_table: NDArray[np.int32],
    zigzag: NDArray[np.int64],
    interval: int,
    out: NDArray[np.int32],
) -> int:
    """The 64 coefficients of each 8 × 8 block, row by row; `out` holds zeros."""
    state = np.zeros(4, dtype=np.int64)
    level = 0
    for block in range(out.size // 64):
        if interval > 0 and block > 0 and block % interval == 0:
            if not _restart(data, state):
                return CUT
            level = 0
        size = _symbol(data, state, dc_table)
        if size < 0 or size > 16:
            return BAD_CODE
        level += _difference(data, state, size)
        out[64 * block] = level
        k = 1
        while k < 64:
            symbol = _symbol(data, state, ac_table)
            if symbol < 0:
                return BAD_CODE
            size = symbol & 15
            if size == 0 and symbol >> 4 != 15:
                break
            k += symbol >> 4
            if size > 0 and k < 64:
                out[64 * block + zigzag[k]] = _difference(data, state, size)
            elif k >= 64:
                return BAD_CODE
            k += 1
    return DONE if state[_BEYOND] <= state[_COUNT] else CUT
