"""What stands between our loops and the machine: decorators, threads, instructions.

``compiling`` has the decorators of all kernels. ``joining`` lets each be optimised once, ``filing``
keeps machine code on disk, ``shipping`` finds code that came with the package, and ``announcement``
says that kernels are being compiled.
``handing`` lets kernels hand on one address in place of many arrays, ``thread_team`` and
``atomics`` let threads share the tasks of a phase inside one call, and ``instructions`` are what
processors do in a step or two and Numba does not ask them for.
"""
