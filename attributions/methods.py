"""What is known of each method: a row a method, a column a fact."""

from typing import NamedTuple

WORTH = "What each feature is worth"
AT_ONCE = "give it all rows at once, in memory or as tables of Dask"


class Method(NamedTuple):
    """The facts of one method; a method that has no row has the defaults.

    ``kurtosis_limit`` is that of rows' contributions over the number of held-out rows, which bounds
    the error of the normal approximation: above it intervals are not to be relied on, see
    ``GlobalAttribution.is_reliable``.
    """

    title: str = ""  # in pictures
    unit: str = "value"  # of a feature's value, in pictures
    seen: str = WORTH  # what a picture shows
    no_sum: str = ""  # why it is no sum over rows; empty where it is one
    is_judged: bool = False  # targets judge every row by itself: rows have numbers of that unit
    is_testable: bool = False  # a feature that does not help is expected to have 0 or less
    adds_up_features: bool = False
    adds_up_models: bool = False  # each judged on rows of its own
    is_in_percent: bool = False  # in tables, too; of others only when asked
    has_errors: bool = True
    without_errors: str = "it was computed with standard_error=False"  # why there are none
    is_whole_prediction: bool = False  # contributions and base value add up to the prediction
    unit_of_row: str = "contribution to the raw prediction"
    kurtosis_limit: float = 0.1


SUM_OF_ALL = Method(is_judged=True, is_testable=True, adds_up_features=True, adds_up_models=True)

METHODS = {
    "held_out_gain": SUM_OF_ALL._replace(
        title="Held-out gain",
        unit="gain that held-out rows confirm",
        seen=f"{WORTH} on new rows",
        no_sum=f"the means of nodes are those of all rows; {AT_ONCE}",
        is_in_percent=True,
        kurtosis_limit=0.2,
    ),
    "tree_inner": SUM_OF_ALL._replace(
        title="TreeInner", unit="gain", seen=f"{WORTH} on these rows"
    ),
    "tree_inner_pairs": Method("TreeInner by pairs", "gain", "What features earn together"),
    "partial_inner": SUM_OF_ALL._replace(
        title="Partial TreeInner",
        unit="gain, own work added back",
        seen=f"{WORTH} on these rows",
    ),
    "forest_inner": SUM_OF_ALL._replace(
        title="ForestInner",
        unit="inner product with the gradients of the start",
        seen=f"{WORTH} on these rows",
    ),
    "tree_shap_pairs": Method("TreeSHAP by pairs", seen="How features act together"),
    "partial_dependence": Method("Partial dependence", seen="How the prediction changes with"),
    "permutation": Method(
        "Permutation importance",
        "drop of the score",
        "How much worse the score gets when a feature is shuffled",
        no_sum="shuffling a chunk is not a part of shuffling all rows",
        is_testable=True,
        without_errors="its metric gives one number for all rows; with a function that gives one a"
        " row there are",
    ),
    "given_others": Method(
        "Given the others",
        "contribution times residual, less what the other features say of both",
        "What each feature says that the others do not",
        is_testable=True,
        adds_up_models=True,
    ),
    "absolute": Method(
        "Absolute attribution",
        "absolute contribution to the raw prediction",
        "How far each feature moves predictions",
        adds_up_models=True,
    ),
    "total_gain": Method(
        "Total gain",
        "gain promised on the training rows",
        "What each feature promised on the training rows",
        no_sum="it is read off the model, not summed over rows",
        adds_up_features=True,
        has_errors=False,
    ),
    "unbiased_gain": Method(
        "Unbiased gain",
        "gain, one factor from other rows",
        f"{WORTH} on other rows",
        no_sum=f"it is made of ratios of sums over rows; {AT_ONCE}",
        without_errors="it was computed with standard_error=False, or with form='sampled', which"
        " has none",
    ),
    "predecomp": Method("PreDecomp", is_whole_prediction=True),
    "saabas": Method("Saabas", is_whole_prediction=True),
    "tree_shap": Method("TreeSHAP", is_whole_prediction=True),
    "local_mdi": Method(
        "Local MDI+", unit_of_row="contribution to the prediction of the linear models"
    ),
    "mdi_plus": Method(
        "MDI+",
        "score of the feature's own part, less that of the mean",
        "How well each feature's own part predicts",
        no_sum="a metric is no sum over rows",
        has_errors=False,
    ),
    "mdi_oob": Method(
        "MDI-oob",
        "covariance with the target on rows left out",
        f"{WORTH} on rows left out",
        no_sum="its means are over other rows for each tree",
    ),
}


def kind_of(method: str) -> str:
    """Return a method without its details: "tree_inner" of "tree_inner(predecomp)"."""
    return method.split("(")[0]


def facts_of(method: str) -> Method:
    """Return the facts of a method, called with its details or without."""
    return METHODS.get(kind_of(method), Method(title=kind_of(method)))


def is_testable(method: str) -> bool:
    """Say whether no effect means a value of 0 or less, so that there are p-values."""
    is_of_targets = kind_of(method) == "forest_inner" and method.endswith(", target)")
    return facts_of(method).is_testable and not is_of_targets


def methods_with(fact: str) -> str:
    """List the names of the methods of which a fact is true."""
    return ", ".join(name for name, method in METHODS.items() if getattr(method, fact))


def of_rows(method: str) -> str:
    """Return the function whose ``..._rows`` has what every row contributes to such a result."""
    name = kind_of(method)
    return name if name in ("held_out_gain", "partial_inner") else "tree_inner"


def is_of_fits(method: str) -> bool:
    """Say whether a result is summed over the models of several folds."""
    return " fits" in method
