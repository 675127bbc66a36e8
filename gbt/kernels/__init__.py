"""Compiled loops, the only home of Numba in ``gbt``: arrays in, arrays out.

No kernel validates, decides a policy, or touches a Python object. Each has a plain twin in
``gbt.reference`` or a test that derives its answer from the definition.
"""
