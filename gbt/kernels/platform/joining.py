"""Joining: kernels that only kernels call are optimised once, where Python enters.

To Numba each kernel is a library of its own. It links all that the kernel calls into it, optimises
caller and callees, and writes machine code for them, which nobody enters if only kernels call it.
Then the caller's caller links and optimises everything once more::

    each by itself                                joined
    a                optimised: a                 a
    b calls a        optimised: b a               b  links a
    c calls b        optimised: c b a             c  links b a
    d, from Python   optimised: d c b a           d  links c b a, optimised: d c b a

A first fit spent half of its time on code that was thrown away (docs/growth.md). So a library of an
inner kernel only links; what Python enters is optimised whole, once.
"""

from llvmlite.binding import Linkage
from numba.core import codegen

from gbt.kernels.platform.lowering import Brief


class _WithoutAddresses:
    """What makes code for a library that has no addresses: its globals have no place to be set."""

    def __init__(self, codegen):
        self._codegen = codegen

    def set_env(self, name, environment):
        pass

    def __getattr__(self, name):
        return getattr(self._codegen, name)


class JoinedLibrary(codegen.JITCodeLibrary):
    """The code of an inner kernel: linked into others, never optimised by itself."""

    @property
    def codegen(self):
        """Return what makes code for this library."""
        return _WithoutAddresses(self._codegen)

    def get_pointer_to_function(self, name):
        """Return no address, because nobody enters here."""
        self._ensure_finalized()
        return 0

    def _optimize_functions(self, module):
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = "linkonce_odr"  # may stand in several libraries, or in none
        self._shared_module = self._final_module
        self._finalized = True


class Joined(Brief):
    """Our compiler, whose code goes into a `JoinedLibrary`."""

    def define_pipelines(self):
        """Choose the library, and leave all steps as they are."""
        state = self.state
        state.library = JoinedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().define_pipelines()
