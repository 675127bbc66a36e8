"""Single-step reads and writes of an int64 array that several threads look at.

Ordinary reads may be moved or merged by the compiler; these may not. ``replace`` is the step from
which the rest is built: it writes only if nobody wrote first.
"""

import platform
import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gbt.kernels.platform.instructions import pointer_to

# Offer the core to another thread; of the C library, so that kernels stay cacheable.
give_way = types.ExternalFunction(
    "SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32()
)
WORD = 8  # bytes
IS_X86 = platform.machine() in ("x86_64", "AMD64")


@intrinsic
def load(_, array, index):
    """Return ``array[index]``.

    What the thread that stored it had written before is seen by all reads that follow.
    """

    def generate(context, builder, signature, arguments):
        place = pointer_to(context, builder, signature, arguments)
        return builder.load_atomic(place, "acquire", WORD)

    return types.int64(array, types.intp), generate


@intrinsic
def store(_, array, index, value):
    """Set ``array[index]``.

    A thread that loads it then sees everything that the caller has written before.
    """

    def generate(context, builder, signature, arguments):
        place = pointer_to(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], place, "release", WORD)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), generate


@intrinsic
def add(_, array, index, value):
    """Add to ``array[index]``; return what it was."""

    def generate(context, builder, signature, arguments):
        place = pointer_to(context, builder, signature, arguments)
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), generate


@intrinsic
def replace(_, array, index, old, new):
    """Set ``array[index]`` to ``new`` if it is ``old``; say whether it was."""

    def generate(context, builder, signature, arguments):
        place = pointer_to(context, builder, signature, arguments)
        found = builder.cmpxchg(place, arguments[2], arguments[3], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), generate


@intrinsic
def pause(_):
    """Let some cycles pass, so that another thread of the same core gets on with its work."""

    def generate(context, builder, signature, arguments):
        if IS_X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            name = "llvm.x86.sse2.pause"
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])
        return context.get_dummy_value()

    return types.void(), generate
