"""
Noise gets gain
===============
A column of random numbers joins real data.
"""
from sklearn.datasets import load_diabetes
load_diabetes()
