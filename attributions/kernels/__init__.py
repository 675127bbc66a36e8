"""The home of Numba in this package: arrays in, arrays out."""
