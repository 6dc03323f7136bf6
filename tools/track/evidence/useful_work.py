"""The floating-point operations that an answer takes, counted while NumPy computes the reference.

A chip's TFLOP/s are of this work, whatever the kernel did besides: two kernels with one reference can be compared.
One operation for each result of an elementwise function, one for each element that a reduction takes in, two for each
multiply-add of a product of matrices. Moving and comparing are free.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, override

import numpy as np

__all__ = ["Uncountable", "flops_of"]

FREE_UFUNCS = {np.positive, np.copysign, np.isnan, np.isfinite, np.isinf, np.signbit, np.conjugate}
FREE_FUNCTIONS = {
    *(
        np.broadcast_to,
        np.concatenate,
        np.copy,
        np.copyto,
        np.diagonal,
        np.empty_like,
        np.expand_dims,
        np.flip,
        np.full_like,
    ),
    *(
        np.iscomplexobj,
        np.may_share_memory,
        np.moveaxis,
        np.ndim,
        np.ones_like,
        np.pad,
        np.ravel,
        np.repeat,
        np.reshape,
    ),
    *(np.roll, np.shape, np.size, np.split, np.squeeze, np.stack, np.swapaxes, np.take, np.take_along_axis, np.tile),
    *(np.transpose, np.tril, np.triu, np.where, np.zeros_like),
}
OF_UFUNCS = {np.amax, np.amin, np.max, np.mean, np.min, np.prod, np.std, np.sum, np.var, np.clip}  # they call these


class Uncountable(Exception):
    """The reference does something whose operations NumPy does itself, out of sight."""


class Counted(np.ndarray):
    """An array that counts what is done to it."""

    total: ClassVar[int] = 0

    @override
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(map(plain, options["out"]))
        arrays = [plain(one) for one in inputs]
        result = getattr(ufunc, method)(*arrays, **options)
        Counted.total += operations(ufunc, method, arrays, result)
        return counted(result)

    @override
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in FREE_FUNCTIONS or func in OF_UFUNCS:
            return super().__array_function__(func, types, args, kwargs)
        count = PRODUCTS.get(func)
        if not count:
            raise Uncountable(f"no count is known for numpy.{func.__name__}")
        arrays = [plain(one) for one in args]
        result = func(*arrays, **kwargs)
        Counted.total += count(arrays, result)
        return counted(result)

    @override
    def dot(self, other: Any, out: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """As `numpy.dot`, which is counted."""
        return np.dot(self, other)

    @override
    def cumsum(self, *args: Any, **options: Any) -> Any:
        """As `numpy.add.accumulate`, which is counted."""
        return np.add.accumulate(self, *args, **options)


def flops_of(reference: Callable[..., Any], inputs: list[np.ndarray]) -> int:
    """The operations of the reference on these inputs; Uncountable where that cannot be told."""
    Counted.total = 0
    reference(*map(counted, inputs))
    return Counted.total


def counted(result: Any) -> Any:
    """The array, or each of several, as one that counts; numbers become arrays of no dimension."""
    if isinstance(result, tuple | list):
        return tuple(map(counted, result))
    return np.asarray(result).view(Counted)


def plain(one: Any) -> Any:
    """The array as NumPy's own."""
    if isinstance(one, tuple | list):
        return type(one)(map(plain, one))
    return one.view(np.ndarray) if isinstance(one, Counted) else one


def operations(ufunc: Any, method: str, inputs: list[Any], result: Any) -> int:
    """How many operations a call of a universal function is; none where its result is no float."""
    if not np.issubdtype(np.asarray(result[0] if isinstance(result, tuple) else result).dtype, np.inexact):
        return 0
    if ufunc is np.matmul:
        return matmul_flops(inputs, result)
    if ufunc in FREE_UFUNCS:
        return 0
    return np.size(inputs[0]) if method in ("reduce", "accumulate", "reduceat") else np.size(result)


def matmul_flops(inputs: list[Any], result: Any) -> int:
    """Two for each multiply-add of a product over the last axis of the first operand."""
    return 2 * np.size(result) * np.shape(inputs[0])[-1]


def einsum_flops(inputs: list[Any], result: Any) -> int:
    """All the products, and the additions where something is summed, as if nothing were done step by step."""
    names, *arrays = inputs
    if not isinstance(names, str) or "." in names:
        raise Uncountable("no count is known for an einsum without a letter for each axis")
    terms, _, out = names.replace(" ", "").partition("->")
    sizes = {
        letter: size
        for term, array in zip(terms.split(","), arrays, strict=True)
        for letter, size in zip(term, np.shape(array), strict=True)
    }
    summed = set(sizes) - set(out) if "->" in names else {letter for letter in sizes if terms.count(letter) > 1}
    return math.prod(sizes.values()) * (len(arrays) - 1 + bool(summed))


PRODUCTS: dict[Any, Callable[[list[Any], Any], int]] = {
    np.dot: matmul_flops,
    np.inner: matmul_flops,
    np.einsum: einsum_flops,
    np.outer: lambda _, result: np.size(result),
}
