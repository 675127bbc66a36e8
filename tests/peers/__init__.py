"""Habits that users of XGBoost, LightGBM and scikit-learn bring along, each beside the peer.

The peers' own tests were once run against the estimators here; these are our own, of the same
habits: same meaning, same result where the definition is the same, else the documented difference.
"""
