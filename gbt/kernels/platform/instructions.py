"""Instructions: what processors do in a step or two, and Numba does not ask them for.

==================  ===============================================================================
``prefetch``        start to read a place of an array that is needed soon
``add_pair``        add to two neighbouring places of an array at once
``add_four``        add to four; of integers or of float64, like ``add_pair``
``add_g``           add [g, size] to two, where size is (|g| + m & ~m) << 1 | 1
``add_g_and_h``     add [g, size, h, 0] to four
``trailing_zeros``  tell the number of the lowest bit that is set in a word, which is not 0
``min``, ``max``    the smaller and the larger of two numbers, as Python's own
==================  ===============================================================================

Rows of a deep node lie far apart, so each read waits for memory, and the processor looks only a few
rows ahead by itself. Asking for a row some turns of the loop before it is needed lets many reads
wait at the same time.

Numba's own ``min`` and ``max`` are functions, which are compiled for every pair of types together
with a way for C to call them: 150 lines of LLVM each time.

Where kernels are not compiled these are plain Python, which says what they mean.
"""

import builtins

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gbt.kernels.platform.compiling import IS_COMPILING

AHEAD = 16  # rows
FOR_READING, KEEP_IN_ALL_CACHES, DATA = 0, 3, 1
INTEGER, NUMBER = ir.IntType(64), ir.IntType(32)


def pointer_to(context, builder, signature, arguments):
    """Return the address of ``array[index]``, the first two of the arguments."""
    array_type, array, index = signature.args[0], arguments[0], arguments[1]
    data = context.make_array(array_type)(context, builder, array).data
    return cgutils.gep_inbounds(builder, data, index)


@intrinsic
def _prefetch(_, array, index):
    def generate(context, builder, signature, arguments):
        place = pointer_to(context, builder, signature, arguments)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [cgutils.voidptr_t],
            ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, NUMBER, NUMBER, NUMBER]),
        )  # fmt: skip
        how = (NUMBER(x) for x in (FOR_READING, KEEP_IN_ALL_CACHES, DATA))
        builder.call(function, [builder.bitcast(place, cgutils.voidptr_t), *how])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def add_vector(context, builder, signature, arguments):
    """Add the arguments after the first two to neighbouring places, the first two say where."""
    place, added = pointer_to(context, builder, signature, arguments), arguments[2:]
    kind = ir.VectorType(added[0].type, len(added))
    place = builder.bitcast(place, kind.as_pointer())
    vector = ir.Constant(kind, ir.Undefined)
    for i, number in enumerate(added):
        vector = builder.insert_element(vector, number, NUMBER(i))
    add = builder.add if kind.element == INTEGER else builder.fadd
    builder.store(add(builder.load(place, align=8), vector), place, align=8)
    return context.get_dummy_value()


@intrinsic
def _add_pair(_, array, index, first, second):
    return types.void(array, types.uintp, *[array.dtype] * 2), add_vector


@intrinsic
def _add_four(_, array, index, first, second, third, fourth):
    return types.void(array, types.uintp, *[array.dtype] * 4), add_vector


def add_entry_vector(context, builder, signature, arguments):
    """Add [g, size] or [g, size, h, 0]; arguments after the place are g, h if there is one, m.

    Of [g, g, h, 0] the second becomes (|g| + m & ~m) << 1 | 1, all in one vector.
    """
    place, (g, *others, m) = pointer_to(context, builder, signature, arguments), arguments[2:]
    n = 4 if others else 2
    kind, zero, one = ir.VectorType(INTEGER, n), [0] * n, [0, 1, 0, 0][:n]
    vector, mask = ir.Constant(kind, zero), ir.Constant(kind, zero)
    for i, number in enumerate([g, g, *others]):
        vector = builder.insert_element(vector, number, NUMBER(i))
    negative = builder.icmp_signed("<", vector, ir.Constant(kind, zero))
    of_size = ir.Constant(ir.VectorType(ir.IntType(1), n), one)
    magnitude = builder.neg(vector)
    vector = builder.select(builder.and_(negative, of_size), magnitude, vector)
    mask = builder.insert_element(mask, m, NUMBER(1))
    vector = builder.and_(builder.add(vector, mask), builder.not_(mask))
    vector = builder.or_(builder.shl(vector, ir.Constant(kind, one)), ir.Constant(kind, one))
    place = builder.bitcast(place, kind.as_pointer())
    builder.store(builder.add(builder.load(place, align=8), vector), place, align=8)
    return context.get_dummy_value()


@intrinsic
def _add_g(_, array, index, g, m):
    return types.void(array, types.uintp, types.int64, types.int64), add_entry_vector


@intrinsic
def _add_g_and_h(_, array, index, g, h, m):
    return types.void(array, types.uintp, *[types.int64] * 3), add_entry_vector


@intrinsic
def _trailing_zeros(_, word):
    def generate(context, builder, signature, arguments):
        is_never_zero = ir.Constant(ir.IntType(1), 1)
        return builder.cttz(arguments[0], is_never_zero)

    return types.uint64(types.uint64), generate


def _second_if(comparison):
    """Return an instruction that takes the second of two numbers if it compares so to the first."""

    @intrinsic
    def chosen(context, first, second):
        kind = context.unify_types(first, second)

        def generate(context, builder, signature, arguments):
            a, b = (
                context.cast(builder, *x, kind) for x in zip(arguments, signature.args, strict=True)
            )
            if isinstance(kind, types.Float):
                is_second = builder.fcmp_ordered(comparison, b, a)
            elif kind.signed:
                is_second = builder.icmp_signed(comparison, b, a)
            else:
                is_second = builder.icmp_unsigned(comparison, b, a)
            return builder.select(is_second, b, a)

        return kind(first, second), generate

    return chosen


def _number_of_lowest_bit(word):
    """Return the number of the lowest bit that is set."""
    return np.uint64((int(word) & -int(word)).bit_length() - 1)


def _nothing(array, index):
    """Do nothing."""


def _add_one_by_one(array, index, *added):
    """Add to ``array[index]`` and the places after it."""
    for i, number in enumerate(added):
        array[index + np.uint64(i)] += number


def _add_g_plainly(array, index, g, m):
    """Add [g, size] to ``array[index]`` and the place after it."""
    _add_one_by_one(array, index, g, (abs(g) + m & ~m) << 1 | 1)


def _add_g_and_h_plainly(array, index, g, h, m):
    """Add [g, size, h] to ``array[index]`` and the places after it."""
    _add_one_by_one(array, index, g, (abs(g) + m & ~m) << 1 | 1, h)


prefetch = _prefetch if IS_COMPILING else _nothing
add_pair = _add_pair if IS_COMPILING else _add_one_by_one
add_four = _add_four if IS_COMPILING else _add_one_by_one
add_g = _add_g if IS_COMPILING else _add_g_plainly
add_g_and_h = _add_g_and_h if IS_COMPILING else _add_g_and_h_plainly
trailing_zeros = _trailing_zeros if IS_COMPILING else _number_of_lowest_bit
min = _second_if("<") if IS_COMPILING else builtins.min
max = _second_if(">") if IS_COMPILING else builtins.max
