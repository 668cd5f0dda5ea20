# mypy: disable-error-code="arg-type,assignment,no-any-return,return-value"
"""Kernels that turn rows of voxels into runs of equal label, by wide compares."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped,unused-ignore]
from numba import types  # type: ignore[import-untyped,unused-ignore]
from numba.extending import intrinsic  # type: ignore[import-untyped,unused-ignore]
from numpy.typing import NDArray

from situs.base.jit import kernel

__all__ = ["find_runs", "group_runs"]

_LANES = 64


def _pointer(builder: Any, item: Any, wanted: Any, row: Any, index: Any, offset: int = 0) -> Any:
    """Pointer to voxel `index + offset` of the row at an address."""
    size = ir.Constant(ir.IntType(64), item.width // 8)
    place = builder.add(index, ir.Constant(ir.IntType(64), offset))
    return builder.inttoptr(builder.add(row, builder.mul(place, size)), wanted.as_pointer())


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _load(typing: Any, row: Any, index: Any, sample: Any) -> Any:
    """Voxel `index` of the row at an address, of the type that `sample` holds; any alignment."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = context.get_data_type(signature.args[2].dtype)
        value = builder.load(_pointer(builder, item, item, args[0], args[1]), typ=item)
        value.align = 1
        return builder.zext(value, ir.IntType(64)) if item.width < 64 else value

    return types.uint64(types.int64, types.int64, sample), generate


def _unlike(context: Any, builder: Any, signature: Any, args: Any, offset: int) -> Any:
    """64 voxels of a row, each xor a value."""
    item = context.get_data_type(signature.args[2].dtype)
    wide = ir.VectorType(item, _LANES)
    loaded = builder.load(_pointer(builder, item, wide, args[0], args[1], offset), typ=wide)
    loaded.align = 1
    value = builder.trunc(args[3], item) if item.width < 64 else args[3]
    single = builder.insert_element(
        ir.Constant(wide, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
    )
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
    return builder.xor(loaded, builder.shuffle_vector(single, single, lanes))


def _bits(builder: Any, apart: Any) -> Any:
    return builder.bitcast(
        builder.icmp_unsigned("!=", apart, ir.Constant(apart.type, None)), ir.IntType(_LANES)
    )


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _changes(typing: Any, row: Any, index: Any, sample: Any) -> Any:
    """Bit k says whether voxels `index + k` and `index + k + 1` of a row differ,
    for 64 bits; reads 65 voxels."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        item = context.get_data_type(signature.args[2].dtype)
        wide = ir.VectorType(item, _LANES)
        loads = []
        for offset in (0, 1):
            loads.append(
                builder.load(_pointer(builder, item, wide, args[0], args[1], offset), typ=wide)
            )
            loads[-1].align = 1
        return _bits(builder, builder.xor(*loads))

    return types.uint64(types.int64, types.int64, sample), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _any_other(typing: Any, row: Any, index: Any, sample: Any, value: Any) -> Any:
    """Not zero if any of 256 voxels of a row from `index` on is not `value`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        parts = [_unlike(context, builder, signature, args, k * _LANES) for k in range(4)]
        either = builder.or_(builder.or_(parts[0], parts[1]), builder.or_(parts[2], parts[3]))
        return _bits(builder, either)

    return types.uint64(types.int64, types.int64, sample, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _lowest_bit(typing: Any, bits: Any) -> Any:
    """Place of the lowest bit that is set; undefined for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@kernel
def find_runs(
    address: int,
    sample: NDArray[Any],
    nx: int,
    ny: int,
    nz: int,
    step_y: int,
    step_z: int,
    flip: bool,
    first_row: int,
    filled: int,
    row_start: NDArray[np.int64],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    value: NDArray[np.uint32],
) -> tuple[int, int]:
    """Runs of nonzero voxels of equal value, row by row from `first_row` until the arrays might
    overflow.

    `address` is the first voxel in memory of row (0, 0); rows are contiguous, steps are in bytes;
    `flip` says that the stored index falls along memory. Returns the row to go on from and the
    number of runs so far.
    """
    zero, one = np.uint64(0), np.uint64(1)
    y, z = first_row % ny, first_row // ny
    for row in range(first_row, ny * nz):
        row_start[row] = filled
        if filled + nx >= start.size:
            return row, filled
        base = address + y * step_y + z * step_z
        y += 1
        if y == ny:
            y = 0
            z += 1
        before = filled
        begin, i = np.int64(0), np.int64(0)
        current = _load(base, begin, sample)
        # All changes up to voxel i are dealt with, so that voxel i is `current`.
        while i < nx - 1:
            if i + 256 <= nx and _any_other(base, i, sample, current) == zero:
                i += 256
                if i < nx and _load(base, i, sample) != current:
                    start[filled] = begin
                    stop[filled] = i
                    value[filled] = current
                    filled += np.int64(current != zero)
                    begin = i
                    current = _load(base, i, sample)
                continue
            for _ in range(4):
                if i >= nx - 1:
                    break
                bits = zero
                if i + 64 < nx:
                    bits = _changes(base, i, sample)
                elif nx > 64:
                    bits = _changes(base, nx - 65, sample) >> np.uint64(i - (nx - 65))
                else:
                    for k in range(nx - 1):
                        if _load(base, k, sample) != _load(base, k + 1, sample):
                            bits |= one << np.uint64(k)
                while bits != zero:
                    end = i + np.int64(_lowest_bit(bits)) + 1
                    bits &= bits - one
                    # Written in any case, counted if labelled: a branch here would be guessed wrong
                    # half the time.
                    start[filled] = begin
                    stop[filled] = end
                    value[filled] = current
                    filled += np.int64(current != zero)
                    begin = end
                    current = _load(base, end, sample)
                i += 64
        start[filled] = begin
        stop[filled] = nx
        value[filled] = current
        filled += np.int64(current != zero)
        if flip:
            low, high = before, filled - 1
            while low <= high:
                low_start, low_stop, low_value = start[low], stop[low], value[low]
                start[low], stop[low], value[low] = nx - stop[high], nx - start[high], value[high]
                start[high], stop[high], value[high] = nx - low_stop, nx - low_start, low_value
                low += 1
                high -= 1
    row_start[ny * nz] = filled
    return ny * nz, filled


@kernel
def group_runs(
    row_start: NDArray[np.int64],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    label: NDArray[np.int32],
    ny: int,
    place: NDArray[np.int64],
    x0: NDArray[np.int32],
    x1: NDArray[np.int32],
    y: NDArray[np.int32],
    z: NDArray[np.int32],
) -> None:
    """Put the runs of each label together, in row order.

    `place` holds where each label's runs begin; it moves on.
    """
    for row in range(row_start.size - 1):
        for run in range(row_start[row], row_start[row + 1]):
            at = place[label[run]]
            place[label[run]] = at + 1
            x0[at] = start[run]
            x1[at] = stop[run]
            z[at] = row // ny
            y[at] = row - (row // ny) * ny
