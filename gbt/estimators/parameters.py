"""The parameters of both estimators: each one's type, default, allowed values and meaning.

A parameter is a field of a dataclass, which makes the constructors. The allowed values are written
in words and as a test: the test decides, and the words go into documentation and error messages.
Defaults of None are filled in by `defaults`, as soon as the number of rows is known.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from inspect import cleandoc
from numbers import Integral, Real
from typing import Any, NoReturn, TypeVar

import numpy as np

from gbt.estimators.constraints import InteractionConstraints, MonotoneConstraints
from gbt.estimators.defaults import as_checked
from gbt.estimators.other_names import explain_loss, explain_metric
from gbt.losses.by_name import OF_REGRESSION, is_loss, is_own
from gbt.losses.own import OF_A_LOSS
from gbt.parallel.threads import effective_n_jobs
from gbt.splitting.interactions import is_interaction_constraints
from gbt.splitting.monotone import is_monotone_constraints
from gbt.splitting.policies_by_name import POLICIES
from gbt.splitting.policy import Policy
from gbt.tables.names import shown
from gbt.training.evaluation import Callback, Metrics, are_metrics, is_metric
from gbt.training.sampling import RandomState

CategoricalFeatures = str | Sequence[str] | Sequence[int] | Sequence[bool] | np.ndarray | None
ClassWeight = Mapping[Any, float] | str | None
Estimator = TypeVar("Estimator", bound="type[SharedParameters]")


@dataclass(frozen=True)
class Allowed:
    """The allowed values of a parameter, in words and as a test."""

    words: str
    admits: Callable[[Any], bool]


def number_in(kind: Any, interval: str, *others: Any) -> Allowed:
    """Allow numbers of a kind in an interval written as in mathematics, and a few other values."""
    low, high = (float(end) for end in interval[1:-1].split(","))

    def admits(value: Any) -> bool:
        if isinstance(value, kind) and not isinstance(value, bool):
            above = value >= low if interval[0] == "[" else value > low
            below = value <= high if interval[-1] == "]" else value < high
            return above and below
        return any(value is other for other in others)

    noun = "an integer" if kind is Integral else "a number"
    return Allowed(" or ".join([f"{noun} in {interval}", *map(repr, others)]), admits)


TRUE_OR_FALSE = Allowed("True or False", lambda value: isinstance(value, bool | np.bool_))


def is_splitter(value: Any) -> bool:
    """Say whether something names a splitter, or is an object that splits nodes, not its class."""
    if isinstance(value, str | bytes):  # bytes have a method split, too
        return value in ("auto", *POLICIES)
    is_asked = any(callable(getattr(value, name, None)) for name in ("split", "judges"))
    cuts_rows = hasattr(value, "get_n_splits")  # for cross-validation, as KFold does
    return is_asked and not cuts_rows and not isinstance(value, type)


def is_depth(value: Any) -> bool:
    """Say whether something is a number of splits, or stands for one or for any."""
    is_auto = isinstance(value, str) and value == "auto"
    return is_auto or number_in(Integral, "[1, inf)", None).admits(value)


def are_categorical_features(value: Any) -> bool:
    """Say whether something is a list or array of names, of integers or of booleans, or a word."""
    if value is None or isinstance(value, str):
        return value in (None, "from_dtype")
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) != 1:
        return False
    kinds = ((str,), (bool, np.bool_), (Integral,))
    return any(all(isinstance(item, kind) for item in value) for kind in kinds)


def are_class_weights(value: Any) -> bool:
    """Say whether something maps labels to positive numbers, or is a word for such weights."""
    if value is None or isinstance(value, str):
        return value in (None, "balanced")
    is_positive = number_in(Real, "(0, inf)").admits
    return isinstance(value, Mapping) and all(map(is_positive, value.values()))


def is_seed(value: Any) -> bool:
    """Say whether something is a seed, a generator of NumPy, or None."""
    is_number = number_in(Integral, "[0, 4294967295]", None).admits
    return isinstance(value, np.random.RandomState | np.random.Generator) or is_number(value)


def meaning(allowed: Allowed, text: str, short: str = "") -> dict[str, Any]:
    """Return what a field knows of its parameter; ``short`` stands for long words."""
    return {"allowed": allowed, "words": short or allowed.words, "text": text}


def refuse(parameter: Field, value: Any) -> NoReturn:
    """Raise ValueError for the value of a parameter; suggest what was meant."""
    explain = {"loss": explain_loss, "eval_metric": explain_metric}.get(parameter.name)
    nearest = explain(value) if explain else ""
    words = parameter.metadata["allowed"].words
    raise ValueError(f"{parameter.name} must be {words}; got {shown(value)}.{nearest}")


@dataclass(eq=False, repr=False)
class SharedParameters:
    """The parameters of `GBTRegressor`; those of `GBTClassifier` are the same but for three."""

    # fmt: off
    n_estimators: int | None = field(default=None, metadata=meaning(
        number_in(Integral, "[1, inf)", None), """
        Number of rounds, each of one tree or, for K > 2 classes, of K trees. None means 100 if the
        trees are greedy, else 200; of pooled trees, as ``"auto"`` grows them, 700 if
        ``learning_rate`` is None, too, or 1000 if they see fewer than 500 rows. Pooled trees end
        earlier, after 100 rounds in a row without a split, unless rows or columns are sampled or
        ``base_score`` or ``init_score`` is given."""))
    learning_rate: float | None = field(default=None, metadata=meaning(
        number_in(Real, "(0, inf)", None), """
        Factor that multiplies the leaf values of every tree. None means 0.1; of pooled trees 0.07
        for 700 rounds, 0.02 for 1000."""))
    max_depth: int | str | None = field(default="auto", metadata=meaning(
        Allowed("'auto' or an integer in [1, inf) or None", is_depth), """
        Largest number of splits between the root and a leaf; None means no limit. ``"auto"`` means
        6; of pooled trees that see 4,096 rows or more the depth at which leaves of equal size
        have 32 to 63 rows: 8 with 10,000 rows, 11 with 100,000."""))
    max_leaves: int | None = field(default=None, metadata=meaning(
        number_in(Integral, "[2, inf)", None), """
        Largest number of leaves of a tree. If it is given, a tree always makes the split of largest
        gain next. max_depth still limits the tree; give max_depth=None if only the number of leaves
        should."""))
    min_child_weight: float | None = field(default=None, metadata=meaning(
        number_in(Real, "[0, inf)", None), """
        Least sum of weighted hessians in a child. The hessian of a row is 1 under the squared
        error, p (1 - p) for two classes, 2 p (1 - p) for more. None means 1 with ``"greedy"``,
        0.001 with the other splitters."""))
    min_samples_leaf: int | None = field(default=None, metadata=meaning(
        number_in(Integral, "[1, inf)", None), """
        Least number of rows in a child, whatever their weights. None means 20 where ``"auto"``
        grows greedy trees, else 1."""))
    reg_lambda: float = field(default=1.0, metadata=meaning(
        number_in(Real, "[0, inf)"), """
        Added to the sum of hessians in every gain and every step: L2 penalty of leaf values."""))
    min_split_gain: float = field(default=0.0, metadata=meaning(
        Allowed("a number in [0, inf), or any number with splitter='unbiased', whose gains can be"
                " negative", number_in(Real, "(-inf, inf)").admits), """
        A split is made only if its gain is larger than this (the gain of Sun 2022, Definition 2,
        without the factor 1/2)."""))
    subsample: float = field(default=1.0, metadata=meaning(
        number_in(Real, "(0, 1]"), """
        Fraction of rows that each tree sees, drawn without replacement."""))
    colsample: float = field(default=1.0, metadata=meaning(
        number_in(Real, "(0, 1]"), """
        Fraction of columns that each tree sees, drawn without replacement; at least one."""))
    colsample_bylevel: float = field(default=1.0, metadata=meaning(
        number_in(Real, "(0, 1]"), """
        Fraction of the tree's columns that is drawn for every depth; at least one is."""))
    colsample_bynode: float = field(default=1.0, metadata=meaning(
        number_in(Real, "(0, 1]"), """
        Fraction of columns that is drawn for every node, from those that its depth and the
        interaction constraints leave; at least one is."""))
    max_bins: int | None = field(default=None, metadata=meaning(
        number_in(Integral, "[2, 256]", None), """
        Every column of numbers is put into at most so many bins once, by the ranks of its values,
        and cuts lie between bins alone, as in other libraries; missing values and levels are none
        of these. With None greedy trees look at the cuts between any two values
        (docs/exact_search.md), but for those that ``"auto"`` grows, which have 256 bins as all
        others do. Ranks count rows, whatever these weigh."""))
    base_score: float | None = field(default=None, metadata=meaning(
        number_in(Real, "(-inf, inf)", None), """
        Prediction before the first tree; None is the constant of least loss, for the squared error
        the weighted mean of the targets."""))
    splitter: str | Policy = field(default="auto", metadata=meaning(
        Allowed("'auto', 'greedy', 'cross_validated', 'unbiased', or an object with the method"
                " split of gbt.splitting.policy.Policy", is_splitter), """
        How a node chooses its split. ``"greedy"`` takes the cut of largest gain: trees are those of
        XGBoost's exact method. ``"cross_validated"`` splits on the feature that does best on
        held-out folds of the node's rows. With ``"unbiased"`` three parts of these rows decide
        separately on the cut, on the feature and on whether to split. With ``"auto"`` trees that
        see at most 500,000 rows are unbiased and pooled, ``Unbiased(pooled=True)``, and larger
        ones are greedy with 20 rows a leaf and ``max_bins=256``, since these predicted best on real
        tables (docs/accuracy.md); monotone trees are greedy, too. An object is a splitter with
        options, such as ``gbt.splitting.cross_validated.CrossValidated(n_folds=10)``, or your own,
        which has the defaults of ``"greedy"``."""))
    categorical_features: CategoricalFeatures = field(default="from_dtype", metadata=meaning(
        Allowed("'from_dtype', None, or a list of names of columns, of their indices, or of a"
                " boolean for each", are_categorical_features), """
        Columns whose values are levels without an order: by default the columns of categories and
        of words. Levels are kept with the model and looked up by value. With None no column is
        categorical, and categories that are numbers are read as these numbers. Dates are always
        refused."""))
    categorical_smoothing: float | None = field(default=None, metadata=meaning(
        number_in(Real, "[0, inf)", None), """
        A node orders the levels of a column by G / (H + smoothing) before it cuts them in two.
        Levels of fewer rows than this, and of fewer than an eighth of the node's rows, stay
        together. Rows count by their weights. None means 20 if the trees are greedy, else 5."""))
    monotone_constraints: MonotoneConstraints = field(default=None, metadata=meaning(
        Allowed("None, a dict of names or indices of columns to -1, 0 or 1, or a list of one of"
                " these numbers for each column", is_monotone_constraints), """
        1 where predictions must not fall as the values of a column rise and the others stay, -1
        where they must not rise, 0 where they are free. Greedy trees keep them as XGBoost's do
        (``gbt.splitting.monotone``). A classifier needs two classes for them."""))
    interaction_constraints: InteractionConstraints = field(default=None, metadata=meaning(
        Allowed("None, 'no_interactions', 'pairwise', or a list of lists of names or indices of"
                " columns, those that may stand on one path", is_interaction_constraints), """
        As in scikit-learn's ``interaction_cst``; columns that no list names form one more list.
        "pairwise" allows all pairs. With "no_interactions" the model is additive: a sum of
        functions of one column each. Every splitter keeps to these constraints."""))
    loss: Any = field(default=None, metadata=meaning(
        Allowed(f"None, one of {[*OF_REGRESSION]}, a loss of gbt.losses such as"
                f" Quantile(alpha=0.9), or an object with the methods {', '.join(OF_A_LOSS)}; for"
                " labels there is GBTClassifier", is_loss), """
        "half_squared_error" (None), "cross_entropy" (the logistic loss, of targets from 0 to 1),
        "poisson", "gamma", "tweedie" (three that predict exp of the raw prediction),
        "squared_log_error", "quantile", "absolute", "huber", "pseudo_huber", of times to an event
        "cox" (predictions are log hazard ratios) and "aft" (predictions are times), or "pairwise"
        and "ndcg" (the order of rows within the ``groups`` of ``fit``).
        ``gbt.losses`` and ``gbt.losses.amounts`` have them as classes with their parameters, such
        as ``Quantile(alpha=0.9)``. Or an object of your own with the methods value,
        gradient_hessian, link and inverse_link, in NumPy. Leaf values are -learning_rate G/(H +
        reg_lambda) under every loss. So "absolute" and "quantile" move a prediction by at most
        learning_rate a tree, "huber" by delta times that: divide a target that ranges over
        thousands by its spread.""", "str, object or None"))
    early_stopping_rounds: int | None = field(default=None, metadata=meaning(
        number_in(Integral, "[1, inf)", None), """
        Stop when the last evaluation set has not improved for this many rounds, and keep the trees
        up to the best round."""))
    min_delta: float = field(default=0.0, metadata=meaning(
        number_in(Real, "[0, inf)"), """
        An improvement must beat the best loss (or metric) so far by more than this, in the same
        unit."""))
    validation_fraction: float = field(default=0.1, metadata=meaning(
        number_in(Real, "(0, 1)"), """
        Share of the rows, or of those of each class, that is held out for early stopping if ``fit``
        is given no ``eval_set``."""))
    refit: bool = field(default=False, metadata=meaning(
        TRUE_OR_FALSE, """
        Whether to fit once more, on all rows, after the rows held out by ``validation_fraction``
        have told how many rounds are best; the second fit has at most as many. ``evals_result_``
        stays that of the first fit."""))
    eval_metric: Metrics = field(default=None, metadata=meaning(
        Allowed("None, the name of a scikit-learn scorer such as 'neg_mean_absolute_error' or"
                " 'roc_auc' (sklearn.metrics.get_scorer_names() lists them), a function"
                " (y, prediction) -> number that is larger for better predictions, which"
                " scikit-learn's ..._error, ..._loss and ..._deviance are not, or a list of such"
                " names and functions, no two of one name",
                lambda value: value is None or is_metric(value) or are_metrics(value)), """
        What else is recorded on evaluation sets, and decides early stopping in place of the loss:
        the name of a scikit-learn scorer, or a function (y, prediction) -> number; larger is
        better. All metrics of a list are recorded, and the last decides. Of two classes a function
        is given y as 0 and 1, and probabilities of 1; of K > 2 classes y as 0 to K - 1, and K
        probabilities a row. If the weights of an evaluation set differ, the metric is given them as
        ``sample_weight``.""", "str, function, list of these or None"))
    train_score: bool = field(default=False, metadata=meaning(
        TRUE_OR_FALSE, """
        Whether the mean loss of the training rows is recorded after every round, as
        ``train_score_`` and in ``evals_result_["train"]``; it costs one more prediction of all rows
        by every tree."""))
    callbacks: Sequence[Callback] | None = field(default=None, metadata=meaning(
        Allowed("None or a list of functions that are called after every tree",
                lambda value: isinstance(value, list | tuple | None) and
                all(map(callable, value or ()))), """
        Called after every round with a `gbt.training.evaluation.Round`: number, n_rounds, evals,
        model, and the learning_rate of the next round, which a callback may set. Boosting ends with
        the round after which one returns True."""))
    warm_start: bool = field(default=False, metadata=meaning(
        TRUE_OR_FALSE, """
        Whether a further ``fit`` keeps the trees and adds more, up to n_estimators: the same as if
        all had been grown at once, so none where boosting has ended by itself. Rows and their
        order, targets, weights, starting values, loss, learning_rate (None keeps it), reg_lambda,
        base_score and subsample must be those of the first fit, whose seed is used again;
        constraints may be lifted, not added. A model file does not keep the rows, so after
        ``gbt.load`` only their number and the base score are compared."""))
    n_jobs: int | None = field(default=None, metadata=meaning(
        number_in(Integral, "(-inf, inf)", None), """
        Threads; None and -1 are all cores that this process may use. Results do not depend on
        it."""))
    random_state: RandomState = field(default=None, metadata=meaning(
        Allowed("None, an integer in [0, 4294967295], a numpy RandomState or a numpy Generator",
                is_seed), """
        Seed of row and column sampling, of the rows held out for early stopping, of the folds of
        ``splitter="cross_validated"`` and of the parts of ``"unbiased"``. 0 gives the same model at
        every fit. With None these, and so the trees, differ from fit to fit, as in scikit-learn; a
        greedy fit without sampling and early stopping draws nothing."""))
    verbose: int = field(default=0, metadata=meaning(
        number_in(Integral, "[0, inf)", False, True), """
        Above 0, progress on standard error."""))
    # fmt: on

    def _all_parameters(self) -> dict[str, Any]:
        """Return all parameters, also those that a subclass's constructor does not name."""
        return {name: getattr(self, name) for name in sorted(self.__dataclass_fields__)}

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter out of range; ``fit`` calls this first."""
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if not parameter.metadata["allowed"].admits(value):
                refuse(parameter, value)
        policy, asked = as_checked(self.splitter), self.monotone_constraints
        if self.min_split_gain < 0 and not getattr(policy, "judges_by_other_rows", False):
            refuse(self.__dataclass_fields__["min_split_gain"], self.min_split_gain)
        of_columns = asked.values() if isinstance(asked, Mapping) else asked
        is_constrained = of_columns is not None and any(of_columns)
        if is_constrained and not getattr(policy, "keeps_directions", False):
            raise ValueError(
                f"monotone_constraints go with gbt's own splitters; splitter={self.splitter!r} does"
                " not keep them."
            )
        if self.refit and self.warm_start:
            raise ValueError(
                "refit=True grows the trees anew and warm_start=True keeps them: leave out one."
            )
        effective_n_jobs(self.n_jobs)


# fmt: off
@dataclass(eq=False, repr=False)
class ClassifierParameters(SharedParameters):
    """The parameters of `GBTClassifier`: what differs from those of a regressor."""

    base_score: float | None = field(default=None, metadata=meaning(
        number_in(Real, "(0, 1)", None), """
        Probability of ``classes_[1]`` before the first tree; None is its weighted share of the
        rows. With more than two classes it must be None."""))
    loss: Any = field(default=None, metadata=meaning(
        Allowed("None, for the logistic loss of two classes and softmax of more, or an object with"
                f" the methods {', '.join(OF_A_LOSS)}",
                lambda value: value is None or (is_loss(value) and is_own(value))), """
        An object is a loss of your own, see ``gbt.losses.own``.""", "object or None"))
    class_weight: ClassWeight = field(default=None, metadata=meaning(
        Allowed("None, 'balanced' or a dict of labels to positive weights", are_class_weights), """
        What the weights of the rows of a class are multiplied by; "balanced" gives all classes the
        same sum if rows weigh the same. A class that a dict does not name has 1."""))
# fmt: on


HEADING = "\n\nAttributes\n----------"
ATTRIBUTES = """
ensemble_ : gbt.Ensemble
    The trees.
feature_importances_ : array of shape (p,)
    Normalised total gain; biased, see its own documentation.
evals_result_ : dict of str to list of float
    Mean loss on ``eval_set[i]``, or on the rows held out, after every round: key ``"eval_i"``, and,
    for each eval_metric, ``"eval_i_"`` and its name; ``"train"`` with train_score.
train_score_ : array of float
    Mean loss of the training rows after every round; only if train_score is set.
best_iteration_ : int
    Number of the last round kept, from 0.
best_score_ : float or None
    The last evaluation set's metric, or else its loss, after that round.
split_scores_ : array of shape (p,) or None
    For each feature, what the splitter found the nodes' best splits to be worth, whether or not
    they were made. None for greedy splits, whose gains the nodes have, and where a warm start with
    early stopping kept fewer trees than there were. With ``splitter="unbiased"`` it is the
    importance of Zhang, Zhang and Li (2023), Algorithm 3.
splitter_ : str or object
    What grew the trees: the splitter, or what ``"auto"`` chose.
n_features_in_ : int
feature_names_in_ : array of shape (p,)
    Only if fitted on a data frame with string column names."""


def documented(estimator: Estimator) -> Estimator:
    """Write all parameters and attributes into the docstring of an estimator."""
    about, _, own = cleandoc(estimator.__doc__ or "").partition(HEADING)
    lines = [about, "\nParameters\n----------"]
    for parameter in fields(estimator):
        known = parameter.metadata
        lines.append(f"{parameter.name} : {known['words']}, default={parameter.default!r}")
        lines += [f"    {line}" for line in cleandoc(known["text"]).splitlines()]
    estimator.__doc__ = "\n".join(lines) + HEADING + own + ATTRIBUTES
    return estimator
