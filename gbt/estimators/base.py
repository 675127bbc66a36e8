"""The base of the two estimators: everything but the meaning of a target.

A fit takes a table as people have it, checked by `gbt.estimators.tables`, and makes an `Ensemble`.
A prediction is the ensemble's raw prediction, transformed by the inverse link of the loss.

A fit works on a copy of the estimator and hands its attributes over at the very end. So an error,
or Ctrl-C, leaves the estimator as it was: unfitted, or with its former model.
"""

import os
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gbt.estimators.constraints import Constraints, constraints_of, not_kept
from gbt.estimators.defaults import LARGEST_UNBIASED, chosen
from gbt.estimators.in_chunks import refuse_what_needs_memory, rows_of
from gbt.estimators.other_names import says_what_serves
from gbt.estimators.predictions import Predicts
from gbt.files.saving import describe_estimator, kind_of, save
from gbt.kernels.trees.experience import nothing_held_up
from gbt.losses.by_name import as_loss, is_same
from gbt.losses.overflow import SumsOverflowError
from gbt.losses.ranking.queries import with_queries
from gbt.losses.robust import warn_of_short_steps
from gbt.model.description import described
from gbt.model.ensemble import Ensemble
from gbt.model.seen_rows import SeenRows
from gbt.parallel.chunks import is_in_chunks
from gbt.splitting.policies_by_name import as_policy, describe_policy
from gbt.splitting.policy import Policy
from gbt.tables.sparse_rows import SparseRows, take
from gbt.tables.targets import refuse_weights, warn_of_other_order
from gbt.training.boosting import Boosted, Parameters, boost
from gbt.training.distributed.table import SharedRows
from gbt.training.evaluation import TRAIN, EvalSet, Round, refuse_other_eval_sets
from gbt.training.sampling import Sampling, hold_out, sample_size, seed_of


class BaseGBT(Predicts):
    """The base of the two estimators; see `gbt.estimators`."""

    evals_result_: dict[str, list[float]]
    best_iteration_: int
    split_scores_: np.ndarray | None
    splitter_: str | Policy
    _sampling: Sampling
    _learning_rates: list[float]  # of every round and the next, if callbacks were asked
    _held_up: np.ndarray | None  # what splits of the rounds so far have told
    _kept_constraints: Constraints  # by all trees

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        for accepted in ("allow_nan", "categorical", "string", "sparse"):
            setattr(tags.input_tags, accepted, True)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def __dask_tokenize__(self) -> Any:
        """Return what tells a model from others; to Dask a dataclass is nothing but its fields."""
        from dask.base import normalize_token

        return normalize_token((type(self), vars(self)))

    @says_what_serves
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        init_score: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        groups: Any = None,
        eval_groups: Any = None,
    ) -> Self:
        """Fit the trees.

        Parameters
        ----------
        X : table of shape (n, p)
            Numbers, and categories where ``categorical_features`` says so; nan, or None, is a
            missing value, infinities are refused. Entries that a sparse matrix does not store are
            0. Rows of an array or frame of Dask stay where they are (docs/guide/dask.md).
        y : array of shape (n,)
            Targets; a classifier's are labels of any one type, which become ``classes_``. With
            ``loss="cox"`` or "aft" times of events (``gbt.losses.survival.times`` has the forms),
            with "pairwise" and "ndcg" grades, more for better rows.
        sample_weight : array of shape (n,), optional
            Not negative. Rows of weight 0 are dropped before anything else.
        eval_set : list of (X, y), (X, y, sample_weight) or (X, y, sample_weight, init_score)
            Tables whose mean loss, and ``eval_metric``, is recorded after every round, in
            ``evals_result_``. The last one decides early stopping. ``class_weight`` does not
            multiply its weights.
        init_score : array of shape (n,), or (n, K) for K > 2 classes, optional
            The raw prediction of each row from which boosting starts, in place of a base score;
            every later prediction then needs the ``init_score`` of its own rows
            (``gbt.model.starting_values``). Without ``eval_set``, rows that are held out for early
            stopping keep theirs.
        X_val, y_val, sample_weight_val : optional
            One more evaluation set, after those of ``eval_set``, in the form in which a Pipeline
            can transform it: ``Pipeline(..., transform_input=["X_val"])``.
        groups : array of shape (n,), optional
            With ``loss="pairwise"`` and "ndcg" the query of each row, any label: rows are ordered
            within their query. A query has one weight, which ``sample_weight`` gives all its rows.
        eval_groups : list of arrays, optional
            The queries of each table in ``eval_set``. Without one, whole queries are held out for
            early stopping.

        Returns
        -------
        self
        """
        watched = (eval_set, X_val, y_val, sample_weight_val)
        self.check_parameters()
        if is_in_chunks(X):
            refuse_what_needs_memory(self, init_score)
        if groups is not None or eval_groups is not None:
            self._compare_labels(X, y, groups)
            y = with_queries(as_loss(self.loss), y, groups)
            watched = (self._with_queries(eval_set, eval_groups), *watched[1:])
        attempt = copy(self)
        with rows_of(attempt, X) as rows:
            attempt._fit(rows, y, sample_weight, init_score, watched)
        if self.refit and self.early_stopping_rounds is not None:
            evals_result = attempt.evals_result_
            attempt = self._as_many_rounds(attempt)
            with rows_of(attempt, X) as rows:
                attempt._fit(rows, y, sample_weight, init_score, (None,) * 4)
            attempt.evals_result_ = evals_result
            attempt.__dict__ |= self._all_parameters()
        self.__dict__ = dict(vars(attempt))
        return self

    def _compare_labels(self, X: Any, y: Any, groups: Any) -> None:
        """Warn of rows in another order, before targets and queries become an array."""
        if groups is not None and not is_in_chunks(X):
            warn_of_other_order(X, y, stacklevel=4)  # where fit was called
            warn_of_other_order(X, groups, stacklevel=4, name="groups")

    def _with_queries(self, eval_set: Any, eval_groups: Any) -> Any:
        """Return evaluation sets with the queries of their rows beside the grades."""
        if eval_groups is None:
            return eval_set
        refuse_other_eval_sets(eval_set)
        if not isinstance(eval_groups, list) or len(eval_groups) != len(eval_set):
            raise ValueError(
                f"eval_groups must be a list of queries, one for each of the {len(eval_set)}"
                " evaluation sets: eval_groups=[groups_valid]."
            )
        loss, with_groups = as_loss(self.loss), []
        for i, ((X, y, *others), groups) in enumerate(zip(eval_set, eval_groups, strict=True)):
            self._compare_labels(X, y, groups)
            pairs = with_queries(loss, y, groups, f"eval_groups[{i}]")
            with_groups.append((X, pairs, *others))
        return with_groups

    def _as_many_rounds(self, fitted: Self) -> Self:
        """Return a copy that will grow no more rounds than ``fitted``, at the same rates."""
        again, rates = copy(self), fitted._learning_rates
        again.__dict__ |= chosen(self._all_parameters(), fitted._sampling.n_seen)
        again.n_estimators, again.early_stopping_rounds = fitted.best_iteration_ + 1, None
        again.train_score, again.callbacks = False, None

        def follow(told: Round) -> None:
            told.learning_rate = rates[told.number + 1]

        if len(set(rates)) > 1:
            again.callbacks = [follow]
        return again

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, init_score: Any, watched: tuple[Any, ...]
    ) -> None:
        for name, beside in (("sample_weight", sample_weight), ("init_score", init_score)):
            warn_of_other_order(X, beside, stacklevel=4, name=name)  # where fit was called
        older = self._trees_to_go_on_from()
        X, y, weight = self._check_rows(X, y, sample_weight, reset=older is None)
        n_rows, is_seen = len(y), weight > 0
        target = self._learn_target(y if is_seen.all() else y[is_seen])
        if self._has_pairs:
            refuse_weights(self._own_loss(), y, weight)
        weight = self._weigh(weight, is_seen, target)
        if init_score is not None:
            init_score = self._check_init_score(init_score, n_rows)
        eval_sets = self._check_eval_sets(init_score is not None, *watched)
        if self.refit and self.early_stopping_rounds is not None and eval_sets:
            raise ValueError(
                "refit=True gives back the rows that validation_fraction holds out, but with"
                " evaluation sets none are held out. Leave out refit; or give all rows to fit, and"
                " no evaluation set."
            )
        seed = seed_of(self.random_state) if older is None else self._sampling.seed
        if self.early_stopping_rounds is not None and not eval_sets:
            queries = target[:, 1] if self._own_loss().has_queries else None
            kept, held_out = hold_out(
                target, self.validation_fraction, seed, is_classifier(self), queries
            )
            held_out_rows = np.flatnonzero(is_seen)[held_out]
            start = None if init_score is None else init_score[held_out_rows]
            eval_sets = [(take(X, held_out_rows), target[held_out], weight[held_out_rows], start)]
            is_seen[held_out_rows] = False
            target = target[kept]
        X = X if isinstance(X, SharedRows | SparseRows) else np.asarray(X)
        if not is_seen.all():
            X, weight = take(X, is_seen), weight[is_seen]
            init_score = None if init_score is None else init_score[is_seen]
        sampling = Sampling(seed, float(self.subsample), n_rows, np.flatnonzero(~is_seen))
        del is_seen  # it is as long as the table, and fitting is about to need memory
        if older is not None:
            self._sampling.refuse_to_become(sampling)
        if weight.min() == weight.max():
            weight = weight[:1].copy()  # one weight stands for the equal weights of all rows
        boosted = self._boost(X, target, weight, init_score, eval_sets, seed, older)
        tuned = eval_sets[-1][:2] if self.early_stopping_rounds else None
        trained = X.hash_rows(target) if isinstance(X, SharedRows) else (X, target)
        seen_rows = SeenRows.of(trained, tuned, self.n_jobs, weight, init_score)
        self.ensemble_ = replace(boosted.ensemble, seen_rows=seen_rows)
        self.evals_result_ = boosted.evals_result
        self._learning_rates, self._held_up = boosted.learning_rates, boosted.held_up
        scores = [] if older is None else [self.split_scores_]
        told = [of_trees for of_trees in (*scores, boosted.split_scores) if of_trees is not None]
        if older is not None and boosted.best_iteration + 1 < older.n_rounds:
            told = []  # how much of the older sum belongs to the trees that are kept is unknown
        self.split_scores_ = np.sum(told, axis=0) if told else None
        self._kept_constraints = constraints_of(self, boosted.ensemble.loss)
        self.best_iteration_ = boosted.best_iteration
        self._sampling = sampling

    def _boost(
        self,
        X: Any,
        target: np.ndarray,
        weight: np.ndarray,
        init_score: np.ndarray | None,
        eval_sets: list[EvalSet],
        seed: int,
        start: Ensemble | None,
    ) -> Boosted:
        """Call the trainer with arguments and errors translated."""
        loss = self._own_loss()
        asked = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in self._all_parameters().items()
        }
        asked = chosen(asked, sample_size(len(target), asked["subsample"]))
        if start is not None and self.learning_rate is None:
            asked["learning_rate"] = start.learning_rate
        n_trees, rate = asked["n_estimators"], asked["learning_rate"]
        warn_of_short_steps(loss, target, n_trees, rate, stacklevel=5)  # where fit was called
        self.splitter_, base_score = asked["splitter"], asked["base_score"]
        if isinstance(X, SharedRows) and self.splitter == "auto" and len(X) <= LARGEST_UNBIASED:
            X = X.in_memory()  # many rounds of few rows each would be spent in asking for sums
        asked |= (constraints := constraints_of(self, loss))
        for name in [] if start is None else not_kept(constraints, self._kept_constraints):
            raise ValueError(
                f"warm_start adds trees to a model whose trees do not keep {name}="
                f"{getattr(self, name)!r}. Set warm_start=False to begin anew."
            )
        try:
            return boost(
                X, target, weight,
                loss=loss,
                parameters=Parameters.of(asked),
                base_score=None if base_score is None else loss.link(base_score),
                splitter=as_policy(asked["splitter"]),
                eval_sets=eval_sets,
                feature_names=self._column_names(),
                seed=seed,
                n_jobs=asked["n_jobs"],
                categories=self._categories,
                init_score=init_score,
                start=start,
                held_up=None if start is None else self._held_up,
                learning_rates=() if start is None else getattr(self, "_learning_rates", ()),
            )  # fmt: skip
        except SumsOverflowError as error:
            steep = f" Or learning_rate={rate} is too large: beyond 1 every step overshoots."
            raise ValueError(
                f"Sums of gradients do not fit into float64 ({error}): y, sample_weight or"
                " base_score are too large or too small. Divide them by a constant."
                + (steep if rate > 1 else "")
            ) from error

    def _learn_target(self, y: Any) -> np.ndarray:
        """Return the targets of training as the loss takes them."""
        return self._as_target(y)

    def _weigh(self, weight: np.ndarray, is_seen: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the training weights of rows; ``target`` is that of rows in ``is_seen``."""
        return weight

    @property
    def feature_importances_(self) -> np.ndarray:
        """Total gain of the splits on each feature, normalised to sum to 1; shape (p,).

        All zeros if no tree has a split. Gains are taken on the rows that the splits were chosen
        on, which favours features with many distinct values even if they are pure noise. For an
        honest ranking use ``attributions.held_out_gain`` with rows that were not trained on.
        """
        check_is_fitted(self)
        gain = self.ensemble_.total_gain()
        return np.divide(gain, gain.sum(), out=np.zeros(len(gain)), where=gain.sum() > 0)

    @property
    def best_score_(self) -> float | None:
        """The last evaluation set's metric, or else its loss, at ``best_iteration_``.

        None if the fit had no evaluation set.
        """
        check_is_fitted(self)
        if self.evals_result_.keys() <= {TRAIN}:
            return None
        *_, deciding = self.evals_result_.values()
        return deciding[self.best_iteration_]

    @property
    def train_score_(self) -> np.ndarray:
        """Mean loss of the training rows after every round, if ``train_score`` is set."""
        check_is_fitted(self)
        if TRAIN not in self.evals_result_:
            raise AttributeError(
                "train_score_ exists only after a fit with train_score=True, because the loss of"
                " the training rows after every tree takes extra time."
            )
        return np.array(self.evals_result_[TRAIN])

    @says_what_serves
    def sampled_rows(self, m: int) -> np.ndarray:
        """Return which rows tree ``m`` was grown on: places in the table of ``fit``, ascending.

        Rows of weight 0, rows held out for early stopping and rows left out by ``subsample`` are
        not among them.
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

        An existing file keeps its permissions and is replaced once the new one is complete. A
        subclass is saved as the GBTRegressor or GBTClassifier that it extends, and `load` returns
        that; one that overrides their methods is refused, because files hold no code.
        """
        check_is_fitted(self)
        self.check_parameters()
        self._refuse_other_version()
        self._refuse_other_trees()
        parameters = {**self._all_parameters(), "splitter": describe_policy(self.splitter)}
        parts = {
            "ensemble": described(self.ensemble_),
            "estimator": describe_estimator(self, parameters),
        }
        save(kind_of(self).__name__, parts, path)

    def _trees_to_go_on_from(self) -> Ensemble | None:
        """Return the trees that a fit adds to; None if it begins anew."""
        if not (self.warm_start and hasattr(self, "ensemble_")):
            return None
        self._refuse_other_version()
        return self.ensemble_

    def _refuse_other_version(self) -> None:
        """Raise ValueError if a pickle of another version lacks what the fit has told."""
        shape = nothing_held_up(self.ensemble_.n_features, self.ensemble_.n_outputs).shape
        lacks = {"split_scores_", "_kept_constraints", "_sampling"} - {*vars(self)}
        if lacks or getattr(getattr(self, "_held_up", None), "shape", ()) != shape:
            raise ValueError(
                "The model was pickled by another version of this library. It predicts and is"
                " explained, but warm_start cannot add trees to it, nor save write it. Fit it anew,"
                " after set_params(warm_start=False); or save the trees alone:"
                " model.ensemble_.save(path)."
            )

    def _refuse_other_trees(self) -> None:
        """Raise ValueError if parameters that were set after the fit misstate its trees."""
        loss = self._own_loss()
        misstated = [] if is_same(loss, self.ensemble_.loss) else ["loss"]
        for name in (*misstated, *not_kept(constraints_of(self, loss), self._kept_constraints)):
            raise ValueError(
                f"{name}={getattr(self, name)!r} was set after the fit, and the trees were grown"
                " otherwise: a file would misstate them. Fit once more or set it back, or save the"
                " trees alone: model.ensemble_.save(path)."
            )
