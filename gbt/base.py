"""What the two estimators share: all but the meaning of a target.

What goes in is a table as people have it, checked by `gbt.checked_tables`. What comes out is an
`Ensemble`, and every prediction is its raw prediction seen through the link of the loss.

A fit works on a copy of the estimator and hands its attributes over at the very end. So an error,
or Ctrl-C, leaves the estimator as it was: unfitted, or with its former model.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gbt.checked_tables import ChecksTables
from gbt.files.saving import describe_estimator, kind_of, save
from gbt.losses.known import is_same
from gbt.losses.loss import Loss
from gbt.losses.overflow import SumsOverflowError
from gbt.model.ensemble import Ensemble
from gbt.model.seen_rows import SeenRows
from gbt.other_names import says_what_serves
from gbt.parallel.chunks import is_in_chunks, map_chunks
from gbt.parallel.threads import effective_n_jobs
from gbt.parameters import OF_REGRESSOR, Allowed, check_value
from gbt.splitting.frontier import Policy
from gbt.splitting.monotone import directions, refuse_new_directions
from gbt.splitting.policies import as_policy, describe_policy
from gbt.training.boosting import Boosted, Parameters, boost
from gbt.training.evaluation import Callback, EvalSet, Metric
from gbt.training.sampling import RandomState, Sampling, hold_out, seed_of
from gbt.training.shares.table import SharedRows

MonotoneConstraints = Mapping[str, int] | Mapping[int, int] | Sequence[int] | np.ndarray | None
CategoricalFeatures = str | Sequence[str] | Sequence[int] | Sequence[bool] | np.ndarray | None


class BaseGBT(ChecksTables):
    """What the two estimators share, parameters included; see `gbt.estimators`."""

    _allowed: ClassVar[dict[str, Allowed]] = OF_REGRESSOR
    ensemble_: Ensemble
    evals_result_: dict[str, list[float]]
    best_iteration_: int
    split_scores_: np.ndarray | None
    _sampling: Sampling
    _kept_directions: np.ndarray | None = None  # the monotone constraints of all trees

    def __init__(
        self,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 6,
        max_leaves: int | None = None,
        min_child_weight: float = 1.0,
        min_samples_leaf: int = 1,
        reg_lambda: float = 1.0,
        min_split_gain: float = 0.0,
        subsample: float = 1.0,
        colsample: float = 1.0,
        base_score: float | None = None,
        splitter: str | Policy = "greedy",
        categorical_features: CategoricalFeatures = "from_dtype",
        categorical_smoothing: float = 20.0,
        monotone_constraints: MonotoneConstraints = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
        eval_metric: str | Metric | None = None,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_child_weight = min_child_weight
        self.min_samples_leaf = min_samples_leaf
        self.reg_lambda = reg_lambda
        self.min_split_gain = min_split_gain
        self.subsample = subsample
        self.colsample = colsample
        self.base_score = base_score
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.categorical_smoothing = categorical_smoothing
        self.monotone_constraints = monotone_constraints
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.eval_metric = eval_metric
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter out of range; ``fit`` does this first."""
        given = self._all_parameters()
        for name, allowed in self._allowed.items():
            check_value(name, given[name], allowed)
        may_lose = getattr(as_policy(self.splitter), "judges_by_other_rows", False)
        if self.min_split_gain < 0 and not may_lose:
            words = self._allowed["min_split_gain"].words
            raise ValueError(f"min_split_gain must be {words}; got {self.min_split_gain!r}.")
        self._refuse_constraints()
        effective_n_jobs(self.n_jobs)

    def _refuse_constraints(self) -> None:
        """Raise ValueError if the splitter cannot keep the monotone constraints."""
        asked = self.monotone_constraints
        of_columns = asked.values() if isinstance(asked, Mapping) else asked
        is_asked = of_columns is not None and any(of_columns)
        if is_asked and not getattr(as_policy(self.splitter), "keeps_directions", False):
            raise ValueError(
                f"monotone_constraints go with splitter='greedy'; splitter={self.splitter!r} does"
                " not keep them."
            )

    @says_what_serves
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        init_score: Any = None,
    ) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (n, p)
            Numbers, and categories where ``categorical_features`` says so; nan, or None, is a
            missing value, infinities are refused.
        y : array of shape (n,)
            Targets; a classifier's are labels of any one type, which become ``classes_``.
        sample_weight : array of shape (n,), optional
            Not negative. Rows of weight 0 are dropped before anything else.
        eval_set : list of (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score)
            Tables whose mean loss, and ``eval_metric``, is recorded after every tree, in
            ``evals_result_``. The last one decides early stopping. ``class_weight`` does not
            multiply its weights.
        init_score : array of shape (n,), or (n, K) for K > 2 classes, optional
            A raw prediction of each row from which boosting starts, in place of a base score; every
            prediction is then asked for with those of its rows (``gbt.model.starts``). Without
            ``eval_set``, rows that are held out for early stopping keep theirs.

        Returns
        -------
        self
        """
        attempt = copy(self)
        attempt._fit(X, y, sample_weight, eval_set, init_score)
        self.__dict__ = dict(vars(attempt))
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, eval_set: Any, init_score: Any) -> None:
        self.check_parameters()
        if is_in_chunks(X):
            self._refuse_in_shares(init_score)
            with self._share_rows(X) as rows:
                self._fit_rows(rows, y, sample_weight, eval_set, None)
        else:
            self._fit_rows(X, y, sample_weight, eval_set, init_score)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, eval_set: Any, init_score: Any) -> None:
        start = self if self.warm_start and hasattr(self, "ensemble_") else None
        X, y, weight = self._check_rows(X, y, sample_weight, reset=start is None)
        n_rows = len(y)
        is_seen = weight > 0
        target = self._learn_target(y if is_seen.all() else y[is_seen])
        weight = self._weigh(weight, is_seen, target)
        if init_score is not None:
            init_score = self._check_init_score(init_score, n_rows)
        eval_sets = self._check_eval_set(eval_set, has_init_score=init_score is not None)
        seed = seed_of(self.random_state) if start is None else self._sampling.seed
        if self.early_stopping_rounds is not None and not eval_sets:
            kept, held_out = hold_out(target, self.validation_fraction, seed, is_classifier(self))
            held_out_rows = np.flatnonzero(is_seen)[held_out]
            start_of_held_out = None if init_score is None else init_score[held_out_rows]
            eval_sets = [
                (X[held_out_rows], target[held_out], weight[held_out_rows], start_of_held_out)
            ]
            is_seen[held_out_rows] = False
            target = target[kept]
        is_shared = isinstance(X, SharedRows)
        X = X if is_shared else np.asarray(X)
        if not is_seen.all():
            X, weight = X[is_seen], weight[is_seen]
            init_score = None if init_score is None else init_score[is_seen]
        sampling = Sampling(seed, float(self.subsample), n_rows, np.flatnonzero(~is_seen))
        del is_seen  # it is as long as the table, and fitting is about to need memory
        n_older = 0
        if start is not None:
            n_older = start.ensemble_.n_rounds
            self._sampling.refuse_to_become(sampling)

        if weight.min() == weight.max():
            weight = weight[:1].copy()  # one weight stands for the equal weights of all rows
        older = None if start is None else start.ensemble_
        boosted = self._boost(X, target, weight, init_score, eval_sets, seed, older)
        tuned = eval_sets[-1][:2] if self.early_stopping_rounds else None
        if is_shared:
            seen_rows = SeenRows.of_hashes(X.hash_rows(target), tuned, self.n_jobs, weight)
        else:
            seen_rows = SeenRows.of((X, target), tuned, self.n_jobs, weight, init_score)
        self.ensemble_ = replace(boosted.ensemble, seen_rows=seen_rows)
        self.evals_result_ = boosted.evals_result
        scores = [None if start is None else start.split_scores_, boosted.split_scores]
        told = [of_trees for of_trees in scores if of_trees is not None]
        if boosted.best_iteration + 1 < n_older:
            told = []  # nobody knows what the trees that are kept have of the older sum
        self.split_scores_ = np.sum(told, axis=0) if told else None
        self._kept_directions = self._directions(boosted.ensemble.loss)
        self.best_iteration_ = boosted.best_iteration
        self._sampling = sampling

    def _boost(
        self,
        X: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray,
        init_score: np.ndarray | None,
        eval_sets: list[EvalSet],
        seed: int,
        start: Ensemble | None,
    ) -> Boosted:
        """Hand over to the trainer, in its own words."""
        loss = self._own_loss()
        asked = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self._all_parameters().items()
        }
        base_score = asked["base_score"]
        asked["monotone_constraints"] = now = self._directions(loss)
        if start is not None:
            refuse_new_directions(self.monotone_constraints, now, self._kept_directions)
        try:
            return boost(
                X,
                target,
                weight,
                loss=loss,
                parameters=Parameters(
                    **{field.name: asked[field.name] for field in fields(Parameters)}
                ),
                base_score=None if base_score is None else loss.link(base_score),
                splitter=as_policy(self.splitter),
                eval_sets=eval_sets,
                feature_names=self._column_names(),
                seed=seed,
                n_jobs=asked["n_jobs"],
                categories=self._categories,
                init_score=init_score,
                start=start,
            )
        except SumsOverflowError as error:
            rate = asked["learning_rate"]
            steep = f" Or learning_rate={rate} is too large: beyond 1 every step overshoots."
            raise ValueError(
                f"Sums of gradients do not fit into float64 ({error}): y, sample_weight or"
                " base_score are too large or too small. Divide them by a constant."
                + (steep if rate > 1 else "")
            ) from error

    def _directions(self, loss: Loss) -> np.ndarray | None:
        """Return the direction to keep with every column, None if all are free."""
        found = directions(self.monotone_constraints, self._column_names(), self._categories)
        if found is not None and loss.n_outputs > 1:
            raise ValueError(
                f"monotone_constraints need one raw prediction a row; with {loss.n_outputs} classes"
                " the probability of one can fall where its own raw prediction rises. Fit one class"
                " against the others."
            )
        return found

    def _learn_target(self, y: Any) -> np.ndarray:
        """Return the targets of training as the loss takes them."""
        raise NotImplementedError

    def _decide(self, raw_prediction: np.ndarray) -> np.ndarray:
        """Return the predictions that follow from raw predictions."""
        raise NotImplementedError

    def _weigh(self, weight: np.ndarray, is_seen: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return what rows weigh in training; the targets are of those that are seen."""
        return weight

    def _lazily(
        self, method: str, X: Any, init_score: Any, dtype: Any, width: int | None = None
    ) -> Any:
        """Return what a method gives for a table of Dask, as an array of Dask that is lazy, too."""
        check_is_fitted(self)
        if init_score is not None:
            raise ValueError("init_score goes with rows in memory: X.compute().")
        model = copy(self)
        model.n_jobs = 1 if self.n_jobs is None else self.n_jobs  # other tasks run beside it
        return map_chunks(getattr(model, method), X, dtype, width)

    def _stages(self) -> Iterator[Self]:
        """Yield the model of the first round, of the first two, ... of all."""
        check_is_fitted(self)
        for m in range(self.ensemble_.n_rounds):
            stage = copy(self)
            stage.ensemble_ = self.ensemble_.truncate(m + 1)
            yield stage

    def _type_of_prediction(self) -> Any:
        """Return the dtype of what ``predict`` returns."""
        return getattr(self, "classes_", np.empty(0)).dtype

    def _raw_predict(self, X: Any, init_score: Any) -> np.ndarray:
        check_is_fitted(self)
        X = self._check_table(X, reset=False)
        return self.ensemble_.raw_predict(X, self.n_jobs, init_score)

    def _staged_raw_predict(self, X: Any, init_score: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        X = self._check_table(X, reset=False)
        return self.ensemble_.staged_raw_predict(X, self.n_jobs, init_score)

    @says_what_serves
    def predict(self, X: Any, init_score: Any = None) -> np.ndarray:
        """Predict the target of every row, a classifier its most probable label.

        Parameters
        ----------
        X : table of shape (n, p)
        init_score : array of shape (n,), or (n, K), optional
            The rows' starting values, if ``fit`` was given those of its rows.

        Returns
        -------
        array of shape (n,)
        """
        if is_in_chunks(X):
            return self._lazily("predict", X, init_score, self._type_of_prediction())
        return self._decide(self._raw_predict(X, init_score))

    @says_what_serves
    def staged_predict(self, X: Any, init_score: Any = None) -> Iterator[np.ndarray]:
        """Yield the prediction of the first tree, of the first two, ... of all trees.

        Parameters
        ----------
        X : table of shape (n, p)
        init_score : optional
            As for `predict`.

        Yields
        ------
        array of shape (n,)
        """
        if is_in_chunks(X):
            return (stage.predict(X, init_score) for stage in self._stages())
        return map(self._decide, self._staged_raw_predict(X, init_score))

    @says_what_serves
    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf that every row reaches in every tree.

        Parameters
        ----------
        X : table of shape (n, p)

        Returns
        -------
        int32 array of shape (n, M)
            Numbers of nodes within their tree, in preorder; the root is 0.
        """
        check_is_fitted(self)
        if is_in_chunks(X):
            return self._lazily("apply", X, None, np.int32, self.ensemble_.n_trees)
        return self.ensemble_.apply(self._check_table(X, reset=False), self.n_jobs)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Total gain of the splits on each feature, normalised to sum to 1; shape (p,).

        All zeros if no tree has a split. Gains are taken on the rows that the splits were chosen
        on, which favours features with many distinct values even if they are pure noise. For an
        honest ranking use ``attributions.tree_inner`` with rows that were not trained on.
        """
        check_is_fitted(self)
        gain = self.ensemble_.total_gain()
        return np.divide(gain, gain.sum(), out=np.zeros(len(gain)), where=gain.sum() > 0)

    @property
    def best_score_(self) -> float | None:
        """What the last evaluation set had at ``best_iteration_``: its metric, or else its loss.

        None if the fit had no evaluation set.
        """
        check_is_fitted(self)
        if not self.evals_result_:
            return None
        *_, deciding = self.evals_result_.values()
        return deciding[self.best_iteration_]

    @says_what_serves
    def sampled_rows(self, m: int) -> np.ndarray:
        """Return which rows tree ``m`` was grown on.

        Rows of weight 0, rows held out for early stopping and rows left out by ``subsample`` are
        not among them.

        Parameters
        ----------
        m : int
            Number of a tree, from 0.

        Returns
        -------
        int array
            Positions in the table given to ``fit``, ascending.
        """
        check_is_fitted(self)
        if not isinstance(m, Integral) or not 0 <= m < self.ensemble_.n_trees:
            raise ValueError(
                f"m must be the number of a tree, an integer in [0, {self.ensemble_.n_trees});"
                f" got {m!r}."
            )
        return self._sampling.rows(int(m))

    @says_what_serves
    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted estimator to a JSON file, to be read by ``gbt.load``.

        Of a subclass the file holds what makes a GBTRegressor or a GBTClassifier, and `load`
        returns that; one that overrides their methods is refused, because files hold no code.

        Parameters
        ----------
        path : str or path-like
            An existing file keeps its permissions and is replaced once the new one is complete.
        """
        check_is_fitted(self)
        self.check_parameters()
        self._refuse_other_trees()
        kind = kind_of(self)
        parameters = {**self._all_parameters(), "splitter": describe_policy(self.splitter)}
        parts = {
            "ensemble": self.ensemble_.describe(),
            "estimator": describe_estimator(self, kind().get_params(), parameters),
        }
        save(kind.__name__, parts, path)

    def _refuse_other_trees(self) -> None:
        """Raise ValueError if parameters that were set after the fit misstate its trees."""
        loss, of_trees = self._own_loss(), self.ensemble_.loss
        now, kept = self._directions(loss), self._kept_directions
        for name, is_so in (
            ("loss", is_same(loss, of_trees)),
            ("monotone_constraints", now is None or (kept is not None and (now == kept).all())),
        ):
            if not is_so:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} was set after the fit, and the trees were"
                    " grown otherwise: a file would misstate them. Fit once more or set it back, or"
                    " save the trees alone: model.ensemble_.save(path)."
                )
