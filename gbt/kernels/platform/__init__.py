"""What stands between our loops and the machine: decorators, threads, instructions.

``compiling`` has the decorators of all kernels, ``announcement`` says that they are being compiled,
``handing`` lets kernels hand on one address in place of many arrays, ``thread_team`` and
``atomics`` let threads share the tasks of a phase inside one call, and ``instructions`` are what
processors do in a step or two and Numba does not ask them for.
"""
