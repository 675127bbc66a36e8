"""Every kernel is held to something that is not a kernel: a plain twin, or a test by definition.

Kernels that Python calls are named one by one, each with its twin on a page of plain NumPy and
loops, or with a test that derives its answer from the definition. Kernels that only kernels call
are parts of these; their modules are named with the tests that look at them. A new kernel, or a new
module of them, fails here until it is in the table.
"""

import ast

import numpy as np
import pytest

from tests.asserts import assert_same
from tests.house.test_architecture import ROOT, module_name
from tests.house.test_docs import missing_from
from tests.kernel_call import call

FROM_PYTHON = {"kernel", "uncounted"}
INSIDE = {"internal", "inlined", "forced_inline", "called_at"}

TWINS = {
    "gbt.kernels.rows.derivatives": {
        "write_derivatives": "test_losses.py::test_derivatives_are_those_of_the_value",
    },
    "gbt.kernels.rows.descent": {
        "link_nodes": "test_descent.py::test_the_drawing_of_the_module",
        "find_leaves": "attributions/reference/definitions.py::path",
        "add_leaf_values": "test_descent.py::test_trees_of_every_depth",
        "predict_before": "test_descent.py::test_trees_of_every_depth",
        "add_up_gradients": "attributions/reference/definitions.py::tree_inner",
    },
    "gbt.kernels.rows.sums": {
        "add_by_place": "test_sums.py::test_sums_by_place",
    },
    "gbt.kernels.shares.bins": {
        "find_bins": "test_shares.py::test_bins_are_where_the_edges_say",
    },
    "gbt.kernels.shares.levels": dict.fromkeys(
        ["weigh_levels", "partition_levels", "add_weights"],
        "test_shares.py::test_any_table_cut_anywhere",
    ),
    "gbt.kernels.shares.parts": {
        "begin_tree": "gbt/reference/boosting.py::to_fixed_point",
        "begin_nodes": "gbt/reference/splits.py::least_gain",
        "weigh_parts": "gbt/reference/splits.py::best_cut",
    },
    "gbt.kernels.shares.rows": dict.fromkeys(
        [
            "partition_values",
            "magnitude_of",
            "fill_columns",
            "fill_parts",
            "fill_few_parts",
            "pick_rows",
            "add_value",
            "add_up_products",
            "list_partials",
        ],
        "test_shares.py::test_any_table_cut_anywhere",
    ),
    "gbt.kernels.trees.finish": {
        "finish_tree": "gbt/reference/boosting.py::write",
    },
    "gbt.kernels.cuts.node_levels": {
        "codes_on_the_left": "test_greedy_levels.py::test_codes_that_went_left",
    },
    "gbt.kernels.trees.partition": {
        "partition_rows": "test_partition.py::test_against_list_comprehensions",
    },
    "gbt.kernels.trees.quantise": {
        "scale_of": "gbt/reference/boosting.py::to_fixed_point",
        "quantise": "gbt/reference/boosting.py::to_fixed_point",
    },
    "gbt.kernels.cuts.ranking": {
        "write_keys": "test_ranking.py::test_keys_of_any_floats",
        "rank_rows": "test_ranking.py::test_against_a_sorted_list",
        "choose_bins": "test_ranking.py::test_bins_against_sets",
        "bin_rows": "test_ranking.py::test_bins_by_hand",
    },
    "gbt.kernels.trees.node_columns": {
        "columns_of_nodes": "gbt/reference/splits.py::may_follow",
    },
    "gbt.kernels.trees.rounds": {
        "grow_trees": "gbt/reference/boosting.py::grow",
    },
    "gbt.kernels.rows.walk": {
        "find_leaves": "attributions/reference/definitions.py::path",
        "add_up_children": (
            "test_ensemble.py::test_the_statistics_of_the_training_rows_are_the_models_own"
        ),
    },
    "attributions.kernels.elastic_net": {
        "hold_out_folds": "test_elastic_net.py::test_folds_are_judged_by_fits_to_the_others",
    },
    "attributions.kernels.contrasts": {
        "find_spots": "attributions/reference/definitions.py::path",
        "add_up_rows": "attributions/reference/definitions.py::unbiased_gain",
        "add_parts": "test_unbiased_gain.py::test_the_standard_error_is_that_of_the_derivatives",
        "mean_ratio_of_subsets": "attributions/reference/definitions.py::mean_ratio_of_subsets",
    },
    "attributions.kernels.held_out": {
        "ask": "attributions/reference/held_out.py::rounds",
        "ask_classes": "attributions/reference/held_out.py::rounds",
        "add_up_steps": "attributions/reference/held_out.py::held_out_gain",
        "add_parts_of_steps": "attributions/reference/held_out.py::row_parts",
        "add_up_rows": "attributions/reference/held_out.py::held_out_gain",
        "add_parts_of_rows": "attributions/reference/held_out.py::row_parts",
    },
    "attributions.kernels.paths": {
        "add_value_changes": "attributions/reference/definitions.py::predecomp",
        "add_up_leaves": "test_inner.py::test_without_standard_errors_the_values_are_the_same",
        "judge_shape": "attributions/reference/definitions.py::partial_inner",
        "average_leaves": "attributions/reference/definitions.py::mean_of_leaves",
    },
    "attributions.kernels.pairs": {
        "add_pair_changes": "attributions/reference/definitions.py::tree_inner_pairs",
    },
    "attributions.kernels.shap": dict.fromkeys(
        ["describe_splits", "share_cover"],
        "attributions/reference/definitions.py::shapley_values",
    ),
    "attributions.kernels.shap_pairs": {
        "add_shapley_pairs": "attributions/reference/interactions.py::shapley_interactions",
    },
    "attributions.kernels.shap_pieces": dict.fromkeys(
        ["cut_trees", "add_shapley"], "attributions/reference/definitions.py::shapley_values"
    ),
    "attributions.kernels.stumps": {
        "add_up_columns": "attributions/reference/definitions.py::mdi_columns",
        "measure_columns": "attributions/reference/definitions.py::mdi_columns",
        "smooth": "attributions/reference/definitions.py::ridge",
        "project": "test_stump_models.py::test_the_fast_ridge_is_the_ridge",
        "predict_rows": "test_stump_models.py::test_rows_are_predicted_from_their_columns",
        "losses_of": "test_stump_models.py::test_elastic_net_chooses_as_scikit_learn_does",
        "add_raw_columns": "attributions/reference/definitions.py::by_block",
        "trace_rows": "test_stump_models.py::test_predictions_from_one_block_without_the_row",
        "add_ranks": "attributions/reference/definitions.py::ranks",
    },
}
# Modules of parts, and the tests that ask these parts themselves or see them through the whole.
PARTS = {
    "gbt.kernels.cuts.bounds": "tests/gbt/training/test_monotone.py",
    "gbt.kernels.rows.descent": "tests/gbt/kernels/test_descent.py",
    "gbt.kernels.rows.sums": "tests/gbt/kernels/test_sums.py",
    "gbt.kernels.trees.finish": "tests/gbt/kernels/test_finish.py",
    "gbt.kernels.trees.greedy_tasks": "tests/gbt/training/test_growing.py",
    "gbt.kernels.trees.growth": "tests/gbt/training/test_growing.py",
    "gbt.kernels.cuts.histogram": "tests/gbt/kernels/test_histogram.py",
    "gbt.kernels.cuts.judged_levels": "tests/gbt/training/test_judged_growth.py",
    "gbt.kernels.cuts.judging": "tests/gbt/training/test_judged_growth.py",
    "gbt.kernels.trees.drawing": "tests/gbt/training/test_judged_growth.py",
    "gbt.kernels.trees.judged_tasks": "tests/gbt/training/test_judged_growth.py",
    "gbt.kernels.cuts.levels": "tests/gbt/tables/test_categories_growing.py",
    "gbt.kernels.shares.levels": "tests/gbt/training/test_shares.py",
    "gbt.kernels.cuts.memory": "tests/gbt/training/test_growing.py",
    "gbt.kernels.cuts.node_levels": "tests/gbt/kernels/test_greedy_levels.py",
    "gbt.kernels.trees.node_columns": "tests/gbt/training/test_interactions.py",
    "gbt.kernels.trees.nodes": "tests/gbt/training/test_growing.py",
    "gbt.kernels.cuts.packed_bins": "tests/gbt/training/test_growing.py",
    "gbt.kernels.trees.quantise": "tests/gbt/training/test_fixed_point.py",
    "gbt.kernels.cuts.ranking": "tests/gbt/kernels/test_ranking.py",
    "gbt.kernels.cuts.refine": "tests/gbt/kernels/test_refine.py",
    "gbt.kernels.trees.rounds": "tests/gbt/training/test_boosting.py",
    "gbt.kernels.cuts.search": "tests/gbt/kernels/test_search.py",
    "gbt.kernels.trees.tasks": "tests/gbt/training/test_growing.py",
    "gbt.kernels.rows.walk": "tests/gbt/model/test_ensemble.py",
    "gbt.kernels.platform.thread_team": "tests/gbt/kernels/test_thread_team.py",
    "attributions.kernels.contrasts": "tests/attributions/unbiased/test_unbiased_gain.py",
    "attributions.kernels.elastic_net": "tests/attributions/mdi/test_elastic_net.py",
    "attributions.kernels.held_out": "tests/attributions/held_out/test_held_out_gain.py",
    "attributions.kernels.paths": "tests/attributions/held_out/test_inner.py",
    "attributions.kernels.shap": "tests/attributions/per_row/test_tree_shap.py",
    "attributions.kernels.shap_pairs": "tests/attributions/per_row/test_tree_shap_pairs.py",
    "attributions.kernels.shap_pieces": "tests/attributions/per_row/test_tree_shap.py",
}


def kernels_in(text, decorators):
    """Return the names of the functions of a module that one of the decorators compiles."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [
        function.name
        for function in functions
        if any(isinstance(by, ast.Name) and by.id in decorators for by in function.decorator_list)
    ]


def modules_of_kernels():
    for folder in ("gbt/kernels", "attributions/kernels"):
        for path in sorted((ROOT / folder).glob("**/*.py")):
            yield module_name(path), path.read_text()


def test_every_kernel_that_python_calls_has_a_twin_or_a_test_by_definition():
    kernels = {
        f"{module}.{name}"
        for module, text in modules_of_kernels()
        for name in kernels_in(text, FROM_PYTHON)
    }
    named = {f"{module}.{name}" for module, twins in TWINS.items() for name in twins}
    assert kernels - named == set(), "give these a twin or a test, and a line"
    assert named - kernels == set(), "these are gone"


def test_every_module_of_parts_has_its_tests():
    modules = {module for module, text in modules_of_kernels() if kernels_in(text, INSIDE)}
    assert modules == set(PARTS)


def test_twins_and_tests_are_there():
    named = [*PARTS.values(), *(twin for twins in TWINS.values() for twin in twins.values())]
    assert missing_from("\n".join(f"`{twin}`" for twin in named)) == []
    assert missing_from("`gbt/reference/boosting.py::no_such_twin`") != []


def test_a_kernel_is_known_by_its_decorator():
    text = "@kernel\ndef f(x):\n    pass\n@forced_inline\ndef g():\n    pass\ndef h():\n    pass\n"
    assert kernels_in(text, FROM_PYTHON) == ["f"]
    assert kernels_in(text, INSIDE) == ["g"]


# --------------------------------------------------------------------- calling kernels by keyword


def scale_into(x, factor, out):
    out[:] = factor * x
    return len(x)


def test_a_kernel_is_called_by_keyword():
    x, out = np.arange(3.0), np.empty(3)
    done = call(scale_into, out=out, x=x, factor=2.0)
    assert_same(out, [0.0, 2.0, 4.0])
    assert (done.result, done.out is out) == (3, True)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"x": 1, "factor": 2, "out": 3, "scale": 4}, r"scale_into has no arguments \['scale'\]"),
        ({"x": 1}, r"scale_into needs \['factor', 'out'\], too"),
    ],
)
def test_names_must_be_those_of_the_kernel(named, message):
    with pytest.raises(TypeError, match=message):
        call(scale_into, **named)


def test_memory_is_that_of_an_argument_that_is_there(monkeypatch):
    monkeypatch.setitem(call.__globals__["MEMORY"], "scale_into", {"buffer": lambda given: 0})
    with pytest.raises(TypeError, match=r"no arguments \['buffer'\]"):
        call(scale_into, x=1, factor=2, out=3)
