"""Rows and trees: derivatives of losses, and the ways down a tree.

``derivatives`` are gradients and hessians of the losses that kernels know; ``walk`` takes one row
down one tree, ``descent`` a block of rows together, without a branch.
"""
