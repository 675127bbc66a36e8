"""Unbiased gain in the simulations of Zhang, Zhang and Li (2023), and where it stops being so."""
