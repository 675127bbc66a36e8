"""Read 400 drawn models of times and of order of every library, and compare what they predict.

    python -m benchmarks.drawn_models [--models 400] [--only YetiRank] [--write]

Drawn are 60 to 300 rows with gaps, ties and whole numbers, a column of words where the library
takes it, and parameters: few or many leaves, rows and columns sampled or not. A model is equal if
its raw predictions are, on its own rows and on new ones. Where sums over rows follow from the loss,
a model that has seen all of them must also have our gradients: `as_ensemble` finds its sums in
these rows, without a warning, leaves are steps -rate G / (H + lambda) of these (scikit-survival's
are means), and under losses by row TreeInner of the rows is the total gain (Proposition 3).
CatBoost counts words in an order that it forgets, and its logarithms of times are by a formula that
is off by 1e-4, which times are given here, too. Rankers of other libraries take other pairs than
ours, and XGBoost and CatBoost break ties of times otherwise than Breslow. ``--write`` puts the
table into docs/results. Needs ``peers``, and scikit-survival for its own.
"""

import argparse
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd

from attributions import SeenRowsWarning, total_gain, tree_inner
from benchmarks.study.files import fill, header
from benchmarks.study.tables import markdown
from gbt.files.documents import InvalidModelError
from gbt.formats import as_ensemble

WORDS = np.array(["rome", "oslo", "lima", "bern", "kyiv"])
WITHIN = {"XGBoost": 1e-5}  # of the largest prediction, and step, which are float32 there
DOUBLE = 1e-10


def draw_rows(rng, shape, has_words, has_gaps, has_ties):
    """Draw rows with targets of all kinds; x0 and some words make times short and grades high."""
    (n, p), columns = shape, {}
    kinds = rng.integers(3, size=p) if has_ties else np.zeros(p, int)
    for k, kind in enumerate(kinds):
        x = rng.normal(size=n)
        x = [x, np.round(2 * x), np.round(x, 1)][kind].astype(np.float32)
        columns[f"x{k}"] = np.where(rng.random(n) < 0.15 * has_gaps, np.nan, x).astype(np.float32)
    signal = np.nan_to_num(columns["x0"]).astype(float)
    if has_words:
        word = rng.integers(5, size=n)
        columns["city"] = pd.Categorical.from_codes(word, WORDS)
        signal += word % 3 - 1
    due, end = rng.exponential(np.exp(-signal)), rng.exponential(1.5, size=n)
    time, event = np.minimum(due, end), due <= end
    time = np.ceil(4 * time) if has_ties else time
    grade = np.digitize(signal + rng.normal(size=n) / 2, [0.0, 0.7, 1.5])
    query = np.sort(rng.integers(max(2, n // 8), size=n))
    # Some times are intervals. A fifth root, or XGBoost's float32 overflows.
    wide, root = np.arange(n) % 5 == 0, time**0.2
    lower, upper = np.where(wide, 0.7, 1.0) * root, np.where(wide | event, root, np.inf)
    return SimpleNamespace(
        X=pd.DataFrame(columns), time=time, event=event, signed=np.where(event, time, -time),
        bounds=np.column_stack([lower, upper]), grade=grade, query=query, has_ties=has_ties,
    )  # fmt: skip


def fit_xgboost(objective, rng, rows):
    """Return a model, what predicts raw, and the targets of its sums where these are ours."""
    import xgboost

    def data(X, **given):
        return xgboost.DMatrix(X, enable_categorical=True, **given)

    asked = {
        "objective": objective, "nthread": 1, "eta": rng.choice([0.1, 0.3, 1.0]),
        "max_depth": rng.integers(1, 7), "lambda": rng.choice([0.1, 1.0, 5.0]),
        "subsample": rng.choice([1.0, 0.7]), "colsample_bynode": rng.choice([1.0, 0.6]),
        "min_child_weight": rng.choice([0.1, 1.0, 5.0]), "gamma": rng.choice([0.0, 0.5]),
        "tree_method": rng.choice(["hist", "approx"]), "max_cat_to_onehot": rng.choice([1, 9]),
    }  # fmt: skip
    y, given = rows.signed, {"label": rows.signed}
    if objective == "survival:aft":
        y = rows.bounds
        given = {"label_lower_bound": y[:, 0], "label_upper_bound": y[:, 1]}
        asked["aft_loss_distribution"] = rng.choice(["normal", "logistic", "extreme"])
        asked["aft_loss_distribution_scale"] = rng.choice([0.4, 1.0, 2.0])
    elif objective.startswith("rank"):
        grade = np.minimum(rows.grade, 1) if objective == "rank:map" else rows.grade
        y, given = None, {"label": grade, "qid": rows.query}
        asked["lambdarank_pair_method"] = rng.choice(["topk", "mean"])
    model = xgboost.train(asked, data(rows.X, **given), int(rng.integers(1, 16)))
    are_ours = asked["subsample"] == 1 and not (objective == "survival:cox" and rows.has_ties)
    return model, lambda X: model.predict(data(X), output_margin=True), y if are_ours else None


def fit_lightgbm(objective, rng, rows):
    """Return a model and what predicts."""
    import lightgbm

    asked = {
        "objective": objective, "num_threads": 1, "verbose": -1,
        "learning_rate": rng.choice([0.1, 0.3, 1.0]), "num_leaves": rng.integers(2, 40),
        "max_depth": rng.choice([-1, 3]), "lambda_l2": rng.choice([0.0, 1.0, 5.0]),
        "min_data_in_leaf": rng.integers(1, 20), "feature_fraction": rng.choice([1.0, 0.6]),
        "bagging_freq": rng.integers(2), "bagging_fraction": 0.7, "cat_l2": rng.choice([0.0, 10.0]),
        "min_data_per_group": rng.choice([1, 20]), "max_cat_to_onehot": rng.choice([1, 9]),
    }  # fmt: skip
    sizes = np.unique(rows.query, return_counts=True)[1]
    data = lightgbm.Dataset(rows.X, rows.grade, group=sizes)
    model = lightgbm.train(asked, data, int(rng.integers(1, 16)))
    return model, model.predict, None


def fit_catboost(function, rng, rows):
    """Return a model, what predicts raw, and the targets of its sums where these are ours."""
    import catboost

    bounds = np.nan_to_num(rows.bounds, posinf=-1)
    y = {"Cox": rows.signed, "SurvivalAft": bounds}.get(function)
    are_ours = not (function == "Cox" and rows.has_ties)
    if function == "SurvivalAft":
        law, scale = rng.choice(["Normal", "Logistic", "Extreme"]), rng.choice([0.4, 1.0, 2.0])
        function = f"SurvivalAft:dist={law};scale={scale}"
    policy = rng.choice(["SymmetricTree", "Depthwise", "Lossguide"])
    model = catboost.CatBoost({
        "loss_function": function, "iterations": rng.integers(1, 16), "grow_policy": policy,
        "depth": rng.integers(1, 7), "learning_rate": rng.choice([0.1, 0.3, 1.0]),
        "l2_leaf_reg": rng.choice([0.5, 3.0]), "one_hot_max_size": rng.choice([2, 9]),
        "nan_mode": rng.choice(["Min", "Max"]), "random_seed": rng.integers(1000),
        "thread_count": 1, "verbose": 0, "allow_writing_files": False,
    })  # fmt: skip
    words = [name for name in rows.X if rows.X[name].dtype == "category"]
    given = {"group_id": rows.query, "y": rows.grade} if y is None else {"y": y}
    model.fit(rows.X, cat_features=words, **given)
    if function.startswith("SurvivalAft"):
        y = np.where(bounds > 0, np.exp(fast_log(np.abs(bounds))), bounds)
    are_ours &= not words or model.get_param("one_hot_max_size") > len(WORDS)
    raw = lambda X: model.predict(X, prediction_type="RawFormulaVal")  # noqa: E731
    return model, raw, y if are_ours else None


def fast_log(t):
    """Return logarithms as CatBoost has those of times: off by up to 1.1e-4 (``fast_log.h``)."""
    bits = t.astype(np.float32).view(np.int32)
    mantissa = ((bits & 0x007FFFFF) | 0x3F000000).view(np.float32)
    steps = np.float32([2.0**-23, 124.22551499, 1.498030302, 1.72587999, 0.3520887068, 0.69314718])
    log_2 = bits.astype(np.float32) * steps[0] - steps[1] - steps[2] * mantissa
    return (steps[5] * (log_2 - steps[3] / (steps[4] + mantissa))).astype(float)


def fit_survival(name, rng, rows):
    """Return a model of scikit-survival, what predicts, and its targets if it has seen all rows."""
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis
    from sksurv.util import Surv

    y, subsample = Surv.from_arrays(rows.event, rows.time), rng.choice([1.0, 0.7])
    model = GradientBoostingSurvivalAnalysis(
        n_estimators=rng.integers(1, 16), max_depth=rng.integers(1, 7), subsample=subsample,
        learning_rate=rng.choice([0.1, 0.3, 1.0]), min_samples_leaf=rng.integers(1, 20),
        max_features=rng.choice([1.0, 0.6]), random_state=int(rng.integers(1000)),
    ).fit(rows.X, y)  # fmt: skip
    return model, model.predict, y if subsample == 1 else None


XGBOOST = ("survival:cox", "survival:aft", "rank:pairwise", "rank:ndcg", "rank:map")
CATBOOST = ("Cox", "SurvivalAft", "YetiRank", "PairLogit", "QueryRMSE")
KINDS = [("XGBoost", name, fit_xgboost) for name in XGBOOST]
KINDS += [("LightGBM", name, fit_lightgbm) for name in ("lambdarank", "rank_xendcg")]
KINDS += [("CatBoost", name, fit_catboost) for name in CATBOOST]
KINDS += [("scikit-survival", "GradientBoostingSurvivalAnalysis", fit_survival)]


def compare(library, loss, fit, seed):
    """Return whether a model is read as it predicts, and whether its sums are ours, if known.

    None and None if it is refused: where large steps spread predictions beyond 13 or so, XGBoost's
    risk sets are differences of numbers nearly equal. Its sums then are not those of the rows, as a
    warning says, and a sum of hessians may be below 0.
    """
    rng = np.random.default_rng(seed)
    has_words, has_gaps, has_ties = rng.integers(2, size=3) == 1
    takes_all = library != "scikit-survival"
    shape = rng.integers(60, 300), rng.integers(2, 7)
    drawn = shape, has_words and takes_all, has_gaps and takes_all, has_ties
    rows, new = draw_rows(rng, *drawn), draw_rows(rng, *drawn)
    model, predict, y = fit(loss, rng, rows)
    try:
        ensemble = as_ensemble(model)
    except InvalidModelError as error:
        if loss == "survival:cox" and "a negative sum_hessian" in str(error):
            return None, None
        raise
    except ValueError:  # CatBoost keeps hashes of words alone
        ensemble = as_ensemble(model, rows.X)
    theirs, ours = (np.concatenate([f(rows.X), f(new.X)]) for f in (predict, ensemble.raw_predict))
    largest = max(1.0, float(np.abs(theirs).max()))
    is_equal = bool(np.abs(ours - theirs).max() <= WITHIN.get(library, DOUBLE) * largest)
    if y is None:
        return is_equal, None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SeenRowsWarning)
        try:
            read = as_ensemble(model, rows.X, y)
        except UserWarning:
            return is_equal, False
        within = WITHIN.get(library, DOUBLE)
        steps = -read.learning_rate * read.sum_gradient / (read.sum_hessian + read.reg_lambda)
        far = np.abs(read.value - steps)[read.left < 0].max()
        are_ours = far <= within * np.abs(read.value).max() or not takes_all
        if read.loss.is_by_row:
            gain, inner = total_gain(read).values, tree_inner(read, rows.X, y).values
            are_ours &= np.abs(inner - gain).max() <= 10 * within * np.abs(gain).sum()
    return is_equal, bool(are_ours)


def main():
    """Compare all and print a Markdown table; the status is 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=400)
    parser.add_argument("--only", default="", help="kinds whose library or loss contains this")
    parser.add_argument("--write", action="store_true", help="write the table into docs/results")
    asked = parser.parse_args()
    lines, all_equal = [], True
    for library, loss, fit in KINDS:
        if asked.only in f"{library} {loss}":
            found = [compare(library, loss, fit, seed) for seed in range(asked.models)]
            both = zip(*found, strict=True)
            alike, sums = ([one for one in part if one is not None] for part in both)
            refused = f", {len(found) - len(alike)} refused" * (len(alike) < len(found))
            said = [f"{sum(part)} of {len(part)} equal" if part else "-" for part in (alike, sums)]
            lines.append([library, loss, said[0] + refused, said[1]])
            all_equal &= all(alike) and all(sums)
            print(*lines[-1], flush=True)
    table = markdown(["library", "loss", "raw predictions", "sums, and TreeInner"], lines)
    if asked.write:
        made_by = header("python -m benchmarks.drawn_models --write").removeprefix("# ")
        fill({"drawn": f"{table}\n\n{made_by}"}, "models")
    print(f"\n{table}")
    return 0 if all_equal else 1


if __name__ == "__main__":
    sys.exit(main())
