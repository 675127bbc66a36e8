"""Estimators that split greedily, as XGBoost does: nothing is drawn, so two fits are the same."""

from functools import partial

from gbt import GBTClassifier, GBTRegressor

GreedyRegressor = partial(GBTRegressor, splitter="greedy")
GreedyClassifier = partial(GBTClassifier, splitter="greedy")
