"""Lowering: an index, a slice, a loop and a call are written in few instructions.

Numba writes `a[i]` in thirty lines of LLVM, the head of a loop in a hundred and a slice in two
hundred: each copies an array into memory, asks for steps that are never negative and layouts that
are known, and reads from memory again. Python writes all this line by line, which takes longer than
LLVM needs to remove it. Here the same is said in what remains of it in the end::

    a[i]               data + i, one load              i + length if i is signed and negative
    b[i, j], b[i]      data + i * columns + j          a row is a view with another beginning
    a[i:j]             both ends brought to 0 .. length, a view
    for i in range(n)  a number and how many are left, which a turn takes one off
    kernel(a, i)       what it raises is left where the caller's caller looks for it

Where kernels count no references variables need no clearing. What is not listed is left to Numba:
other layouts, lists, fancy indices, steps other than 1; and all indices where they are checked.
"""

import builtins

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.ir import Expr
from numba.core.ir_utils import get_definition, guard
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.np.arrayobj import load_item, store_item

FIRST, LAST, STEP = 0, 2**63 - 1, 1  # of a slice of which no more is said


class BriefLower(Lower):
    """Writes LLVM for one kernel."""

    @property
    def _counts_references(self):
        return self.context.enable_nrt

    # ----------------------------------------------------------------------------------- variables

    def alloca_lltype(self, name, lltype, datamodel=None):
        """Return the place of a variable, which nobody reads before it is set."""
        if self._counts_references:
            return super().alloca_lltype(name, lltype, datamodel)
        return self._room(lltype)

    def storevar(self, value, name, argidx=None):
        """Set a variable, whatever it was."""
        self._alloca_var(name, self.typeof(name))
        if self._counts_references or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name):
        """Leave a variable as it is, if nobody counts references to it."""
        if self._counts_references:
            super().delvar(name)

    # --------------------------------------------------------------------------------- expressions

    def lower_assign(self, ty, inst):
        """Write what is assigned: of a kernel nothing, which is called by its name."""
        if isinstance(ty, types.Dispatcher):
            return self.context.get_dummy_value()
        return super().lower_assign(ty, inst)

    def lower_expr(self, resty, expr):
        """Write what an expression computes."""
        if expr.op not in ("getiter", "iternext", "pair_first", "pair_second", "getattr"):
            return super().lower_expr(resty, expr)
        kind = self.typeof(expr.value.name)
        if expr.op == "getiter" and isinstance(kind, types.RangeType) and self._has_step_1(expr):
            return self._begin_range(self.loadvar(expr.value.name), resty)
        if expr.op == "iternext" and isinstance(kind, types.RangeIteratorType):
            return self._next_of_range(self.loadvar(expr.value.name), resty)
        if isinstance(kind, types.Pair) and isinstance(resty, types.Number | types.Boolean):
            place = int(expr.op == "pair_second")
            return self.builder.extract_value(self.loadvar(expr.value.name), place)
        if isinstance(kind, types.Array) and expr.op == "getattr" and expr.attr == "shape":
            return self._field("shape", kind, self.loadvar(expr.value.name))
        if isinstance(kind, types.Record) and self._is_view(resty):
            return self._array_in_record(expr.attr, kind, self.loadvar(expr.value.name), resty)
        return super().lower_expr(resty, expr)

    def lower_call(self, resty, expr):
        """Write a call: of a kernel, or of a function that only makes numbers of given ones."""
        called, signature = self.typeof(expr.func.name), self.fndesc.calltypes[expr]
        kinds, name = signature.args, getattr(called, "typing_key", None)
        may_be_none = isinstance(signature.return_type, types.Optional)
        if isinstance(called, types.Dispatcher) and not may_be_none:
            result = self._call_kernel(called, signature, expr)
            return self.context.cast(self.builder, result, signature.return_type, resty)
        if name is builtins.len and isinstance(kinds[0], types.Array):
            array = self.loadvar(expr.args[0].name)
            return self.builder.extract_value(self._field("shape", kinds[0], array), 0)
        if name not in (builtins.range, builtins.slice) or len(kinds) > 2:
            return super().lower_call(resty, expr)
        ends = [FIRST, LAST]
        for place, (given, kind) in enumerate(zip(expr.args, kinds, strict=True), 2 - len(kinds)):
            if kind is not types.none:
                ends[place] = self._cast_var(given, kind)
        return self._made(resty, [*ends, STEP])

    def _call_kernel(self, called, signature, expr):
        builder, context = self.builder, self.context
        kernel = called.dispatcher.overloads[signature.args]
        arguments = self.fold_call_args(called, signature, expr.args, expr.vararg, expr.kws)
        function = context.declare_function(builder.module, kernel.fndesc)
        context.add_linking_libs([kernel.library])
        result = self._room(function.function_type.args[0].pointee)
        packed = context.get_arg_packer(signature.args).as_arguments(builder, arguments)
        code = builder.call(function, [result, builder.function.args[1], *packed])
        has_raised = builder.icmp_signed("!=", code, ir.Constant(code.type, 0))
        with cgutils.if_unlikely(builder, has_raised):
            builder.ret(code)
        return context.get_returned_value(builder, signature.return_type, builder.load(result))

    def _room(self, lltype):
        """Return a place in memory, which is the kernel's as long as it runs."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype)

    def _made(self, kind, fields):
        """Return a structure of numbers; what is known of it at once is one constant.

        kind     of Numba, or of LLVM
        fields   numbers, what LLVM has computed, None for a null, or lists for structures within
        """
        structure = self.context.get_value_type(kind) if isinstance(kind, types.Type) else kind
        known, computed = [], {}
        for place, (of, value) in enumerate(zip(structure.elements, fields, strict=True)):
            value = self._made(of, value) if isinstance(value, list) else value
            if isinstance(value, ir.Value) and not isinstance(value, ir.Constant):
                computed[place], value = value, None
            known.append(value if isinstance(value, ir.Constant) else ir.Constant(of, value))
        made = ir.Constant(structure, known)
        for place, value in computed.items():
            made = self.builder.insert_value(made, value, place)
        return made

    # -------------------------------------------------------------------------------------- ranges

    def _has_step_1(self, expr):
        """Say whether an iterator is that of a range of which no step was given."""
        made = guard(get_definition, self.func_ir, expr.value)
        return isinstance(made, Expr) and made.op == "call" and len(made.args) <= 2

    def _begin_range(self, state, resty):
        start, stop = (self.builder.extract_value(state, place) for place in range(2))
        current, left = self._room(start.type), self._room(start.type)
        self.builder.store(start, current)
        self.builder.store(self._at_least_0(self.builder.sub(stop, start)), left)
        return self._made(resty, [current, stop, STEP, left])

    def _next_of_range(self, iterator, resty):
        """Return the number of this turn and whether there is one; if so, go on to the next.

        Going on in any case is shorter, but then LLVM does not see that no number wraps round: the
        loops of TreeSHAP were no vectors, and took four times as long.
        """
        current, step, left = (self.builder.extract_value(iterator, k) for k in (0, 2, 3))
        number, n = self.builder.load(current), self.builder.load(left)
        is_one = self.builder.icmp_signed(">", n, ir.Constant(n.type, 0))
        with self.builder.if_then(is_one):
            self.builder.store(self.builder.sub(n, ir.Constant(n.type, 1), flags=["nsw"]), left)
            self.builder.store(self.builder.add(number, step), current)
        return self._made(resty, [number, is_one])

    def _at_least_0(self, number):
        zero = ir.Constant(number.type, 0)
        return self.builder.select(self.builder.icmp_signed(">", number, zero), number, zero)

    # -------------------------------------------------------------------------------------- arrays

    def lower_getitem(self, resty, expr, value, index, signature):
        """Write the reading of an element, a row or a slice."""
        kind, of_index = self.typeof(value.name), self.typeof(index.name)
        if not self._is_plain(kind, of_index) or (
            isinstance(resty, types.Array) and not self._is_view(resty)
        ):
            return super().lower_getitem(resty, expr, value, index, signature)
        array, number = self.loadvar(value.name), self.loadvar(index.name)
        if isinstance(of_index, types.SliceType):
            return self._slice_of(kind, array, number)
        place, rest = self._place(kind, array, of_index, number)
        if rest:
            return self._view(resty, place, rest)
        item = load_item(self.context, self.builder, kind, place)
        return self.context.cast(self.builder, item, signature.return_type, resty)

    def lower_setitem(self, target_var, index_var, value_var, signature):
        """Write the setting of an element."""
        kind, of_index = self.typeof(target_var.name), self.typeof(index_var.name)
        is_number = isinstance(getattr(kind, "dtype", None), types.Number | types.Boolean)
        if not is_number or not self._is_plain(kind, of_index, is_whole=True):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array, number = self.loadvar(target_var.name), self.loadvar(index_var.name)
        place, _ = self._place(kind, array, of_index, number)
        return store_item(
            self.context, self.builder, kind, self._cast_var(value_var, kind.dtype), place
        )

    def _is_plain(self, kind, of_index, is_whole=False):
        """Say whether an array lies end to end, and is indexed by numbers or cut by a slice."""
        is_checked = self.context.enable_boundscheck
        if not isinstance(kind, types.Array) or kind.layout != "C" or is_checked:
            return False
        if isinstance(of_index, types.SliceType):
            return kind.ndim == 1 and not is_whole and not of_index.has_step
        numbers = _numbers_of(of_index)
        are_few = len(numbers) < kind.ndim
        return all(isinstance(n, types.Integer) for n in numbers) and not (is_whole and are_few)

    def _is_view(self, kind):
        """Say whether a result is a view that nobody counts, end to end."""
        is_whole = isinstance(kind, types.Array) and kind.layout == "C"
        return is_whole and not self._counts_references

    def _field(self, name, kind, array):
        model = self.context.data_model_manager[kind]
        return self.builder.extract_value(array, model.get_field_position(name))

    def _place(self, kind, array, of_index, index):
        """Return the address of an element, or of a row's first, and the lengths of the row."""
        shape, place, kinds = self._field("shape", kind, array), None, _numbers_of(of_index)
        lengths = [self.builder.extract_value(shape, axis) for axis in range(kind.ndim)]
        for axis, length in enumerate(lengths):
            place = None if place is None else self.builder.mul(place, length)
            if axis < len(kinds):
                is_tuple = isinstance(of_index, types.BaseTuple)
                number = self.builder.extract_value(index, axis) if is_tuple else index
                number = self._from_start(number, kinds[axis], length)
                place = number if place is None else self.builder.add(place, number)
        return self.builder.gep(self._field("data", kind, array), [place]), lengths[len(kinds) :]

    def _from_start(self, number, kind, length):
        """Return an index counted from the start, if it was counted from the end."""
        if isinstance(kind, types.Literal):
            number, kind = ir.Constant(length.type, kind.literal_value), types.intp
        wide = types.intp if kind.signed else types.uintp
        number = self.context.cast(self.builder, number, kind, wide)
        is_known = isinstance(number, ir.Constant) and number.constant >= 0
        return number if is_known or not kind.signed else self._wrapped(number, length)

    def _wrapped(self, number, length):
        is_negative = self.builder.icmp_signed("<", number, ir.Constant(number.type, 0))
        return self.builder.select(is_negative, self.builder.add(number, length), number)

    def _slice_of(self, kind, array, ends):
        length = self.builder.extract_value(self._field("shape", kind, array), 0)
        start, stop = (
            self._brought_within(self.builder.extract_value(ends, place), length)
            for place in range(2)
        )
        place = self.builder.gep(self._field("data", kind, array), [start])
        return self._view(kind, place, [self._at_least_0(self.builder.sub(stop, start))])

    def _brought_within(self, end, length):
        """Return an end of a slice, from 0 to the length."""
        end = self._at_least_0(self._wrapped(end, length))
        return self.builder.select(self.builder.icmp_signed(">", end, length), length, end)

    def _array_in_record(self, name, kind, record, resty):
        data = self.context.get_data_type(resty.dtype)
        place = cgutils.get_record_member(self.builder, record, kind.offset(name), data)
        return self._view(resty, place, list(kind.typeof(name).shape))

    def _view(self, kind, place, lengths):
        """Return an array of given lengths, known or computed, that begins at some place."""
        size = self.context.get_abi_sizeof(self.context.get_data_type(kind.dtype))
        strides, n_items = [], 1
        for length in reversed(lengths):
            strides.insert(0, self._product(n_items, size))
            n_items = self._product(n_items, length)
        fields = {"nitems": n_items, "itemsize": size, "data": place}
        fields |= {"shape": list(lengths), "strides": strides}
        names = self.context.data_model_manager[kind]._fields
        return self._made(kind, [fields.get(name) for name in names])

    def _product(self, a, b):
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if 1 in (a, b):
            return b if a == 1 else a
        a, b = (x if isinstance(x, ir.Value) else ir.Constant(ir.IntType(64), x) for x in (a, b))
        return self.builder.mul(a, b)


def _numbers_of(of_index):
    """Return the types of indices, one or several."""
    return of_index.types if isinstance(of_index, types.BaseTuple) else (of_index,)


@register_pass(mutates_CFG=True, analysis_only=False)
class BriefLowering(NativeLowering):
    """Numba's step from typed code to LLVM."""

    _name = "brief_lowering"

    @property
    def lowering_class(self):
        """Return what writes LLVM."""
        return BriefLower


class Brief(CompilerBase):
    """Numba's compiler with this step in place of its own."""

    def define_pipelines(self):
        """List the steps."""
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (BriefLowering if step is NativeLowering else step, words)
            for step, words in steps.passes
        ]
        steps.finalize()
        return [steps]
