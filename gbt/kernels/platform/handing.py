"""Handing on: kernels tell each other where a tuple of arrays is, not what is in it.

Numba hands an array to a kernel as seven numbers or nine, and a tuple of arrays as those of all of
them. What threads share while trees grow is some three hundred numbers, which one kernel takes
apart for another to put together again. ``handed`` puts a tuple into memory once and returns its
address. The fields of that are read as those of the tuple, and a tuple in it is an address again::

    work = handed(work)      table = work.table      codes = table.codes
    an address               another one             an array, read from there

So kernels do not care which of both they are given. What a loop reads in every turn it should take
out before, as the compiler cannot know that nothing in the loop overwrites it.

The memory is that of the kernel which calls ``handed``, and gone when it returns.

A kernel may also be told where another one is. Trees are begun, split and ended in the same way by
all policies, whose searches are large; so these are compiled by themselves, and those who grow
trees take the address of the one to call::

    grow_trees(thread, work, address_of(search, work))       from Python
    call_at(search, kind, task, thread, work)                in a kernel
"""

from numba import typeof, types
from numba._dispatcher import compute_fingerprint
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from gbt.kernels.platform.compiling import IS_COMPILING

_addresses: dict = {}  # of kernels, by the types of what they are given


class Address(types.Type):
    """The type of an address of a named tuple."""

    def __init__(self, of):
        self.of = of
        super().__init__(f"Address({of})")

    def of_field(self, name):
        """Return the place of a field, and its type, which is an address if it is a named tuple."""
        place = self.of.fields.index(name)
        kind = self.of.types[place]
        return place, Address(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@register_model(Address)
class AddressModel(models.PrimitiveModel):
    """An address is a pointer."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, manager[kind.of].get_value_type().as_pointer())


@infer_getattr
class FieldsAtAddress(AttributeTemplate):
    """What types the fields have."""

    key = Address

    def generic_resolve(self, kind, name):
        """Return the type of a field, None if there is none of this name."""
        return kind.of_field(name)[1] if name in kind.of.fields else None


@lower_getattr_generic(Address)
def read_field(context, builder, kind, address, name):
    """Read a field, or return where it is."""
    place, of_field = kind.of_field(name)
    field = cgutils.gep_inbounds(builder, address, 0, place)
    if isinstance(of_field, Address):
        return field
    return impl_ret_borrowed(context, builder, of_field, builder.load(field))


@intrinsic
def _handed(_, some):
    def generate(_, builder, signature, arguments):
        if not isinstance(some, types.BaseNamedTuple):
            return arguments[0]
        return cgutils.alloca_once_value(builder, arguments[0])

    return (Address(some) if isinstance(some, types.BaseNamedTuple) else some)(some), generate


def _as_it_is(some):
    """Return what is given."""
    return some


@intrinsic
def _call_at(_, address, kind, task, thread, work):
    def generate(context, builder, signature, arguments):
        convention, kinds = context.call_conv, signature.args[1:]
        of_kernel = convention.get_function_type(types.none, kinds)
        kernel = builder.inttoptr(arguments[0], of_kernel.as_pointer())
        status, _ = convention.call_function(builder, kernel, types.none, kinds, arguments[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(address, kind, task, thread, work), generate


def _address_of(kernel, work):
    """Return where a kernel is that takes kind, task, thread and the address of ``work``.

    To tell the type of so many arrays takes two milliseconds, a twentieth of a small fit, and their
    fingerprint a fiftieth of that.
    """
    key = kernel, compute_fingerprint(work)
    if key not in _addresses:
        kinds = types.int64, types.int64, types.int64, Address(typeof(work))
        kernel.compile(kinds)
        compiled = kernel.overloads[kinds]
        name = compiled.fndesc.llvm_func_name
        _addresses[key] = compiled.library.get_pointer_to_function(name)
    return _addresses[key]


def _kernel_itself(kernel, work):
    """Return a kernel, which is called as it is."""
    return kernel


def _call(kernel, kind, task, thread, work):
    """Call a kernel."""
    kernel(kind, task, thread, work)


handed = _handed if IS_COMPILING else _as_it_is
address_of = _address_of if IS_COMPILING else _kernel_itself
call_at = _call_at if IS_COMPILING else _call
