"""Prefetch: tell the processor which part of an array will be read soon.

Rows of a deep node lie far apart, so each read waits for memory, and the processor looks only a few
rows ahead by itself. Asking for a row some turns of the loop before it is needed lets many reads
wait at the same time.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gbt.kernels.compiling import IS_COMPILING

AHEAD = 16  # rows
FOR_READING, KEEP_IN_ALL_CACHES, DATA = 0, 3, 1


@intrinsic
def _prefetch(_, array, index):
    """Start to read ``array[index]`` into the caches."""

    def generate(context, builder, signature, arguments):
        array_type, array, index = signature.args[0], arguments[0], arguments[1]
        data = context.make_array(array_type)(context, builder, array).data
        place = builder.bitcast(cgutils.gep_inbounds(builder, data, index), cgutils.voidptr_t)
        number = ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [cgutils.voidptr_t],
            ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number]),
        )  # fmt: skip
        builder.call(
            function, [place, *(number(x) for x in (FOR_READING, KEEP_IN_ALL_CACHES, DATA))]
        )
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _nothing(array, index):
    """Do nothing, where kernels are not compiled."""


prefetch = _prefetch if IS_COMPILING else _nothing
