"""Habits that users of XGBoost, LightGBM and scikit-learn bring along, each beside the peer.

The peers' own tests were once run against the estimators here (November 2026, XGBoost 3.4, LightGBM
4.7, scikit-learn 1.9): 275 stopped at something that was absent. The tests in this folder are our
own, of the same habits: same meaning, same result where the definition is the same, else the
documented difference. ``FEATURES`` says how many of the 275 stopped where, and what shows the habit
now; ``test_count.py`` adds up. It has the 184 whose feature was written down.
"""

# What was absent: how many tests stopped there, and the module with a test of it, if it is there.
FEATURES: dict[str, tuple[int, str | None]] = {
    "sparse rows": (66, "tests.gbt.training.test_same_model"),
    "ranking": (22, None),
    "interaction constraints": (17, "tests.gbt.training.test_interactions"),
    "min_delta of early stopping": (17, "tests.peers.test_fitting"),
    "a starting value of each row": (13, "tests.gbt.training.test_starts"),
    "learning-rate schedules, callbacks that get the model": (13, "tests.peers.test_fitting"),
    "soft labels": (8, "tests.gbt.losses.test_losses"),
    "a loss of one's own for a classifier": (7, "tests.gbt.losses.test_losses"),
    "random-forest mode": (6, None),
    "several metrics at once": (5, "tests.peers.test_fitting"),
    "staged_decision_function, predict_log_proba": (5, "tests.peers.test_scikit_learn"),
    "training loss after every round": (3, "tests.peers.test_fitting"),
    "several targets": (2, None),
}
