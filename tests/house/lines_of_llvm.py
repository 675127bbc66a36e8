"""Lines of LLVM that each public function compiles, in one process.

    NUMBA_CACHE_DIR=$(mktemp -d) python -m tests.house.lines_of_llvm

What an earlier call has compiled is not compiled again: a row of the table is what its call adds to
those above. Two sums are counted. *Translated* are the lines that Numba writes. *Optimised* are
those that LLVM works on: a kernel that Python enters is optimised with all inner kernels that it
calls (``gbt.kernels.platform.joining``), so an inner kernel counts once for each kernel that Python
enters and that reaches it. `tests.house.test_architecture` holds both sums to a budget.
"""

import warnings
from collections import Counter

import numpy as np
from numba.core.codegen import CPUCodeLibrary

N_LARGEST = 20  # functions named
N_ROWS = 200
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 10))
Y = X[:, 0] + 0.1 * RNG.normal(size=N_ROWS)
LABELS, CLASSES = (Y > 0).astype(int), np.digitize(Y, [-0.5, 0.5])
LEVELS = np.column_stack([RNG.integers(0, 12, size=(N_ROWS, 3)), X[:, 3:]])
Y_OF_LEVELS = Y + LEVELS[:, 0] % 3
OF_LEVELS = {"categorical_features": [0, 1, 2]}
SPLITTERS = ("greedy", "unbiased", "cross_validated")


def fitted(X=X, y=Y, kind="GBTRegressor", **options):
    """Return a small model of ours."""
    import gbt

    return getattr(gbt, kind)(n_estimators=2, **options).fit(X, y)


def forest(y=Y, kind="RandomForestRegressor"):
    """Return a small forest of scikit-learn."""
    from sklearn import ensemble

    return getattr(ensemble, kind)(2, max_depth=3, random_state=0).fit(X, y)


def in_chunks(*arrays):
    """Return arrays of Dask, of two chunks each."""
    import dask.array as da

    return [da.from_array(array, chunks=(N_ROWS // 2, *array.shape[1:])) for array in arrays]


def calls():
    """Yield every public function that compiles something, and every kind of fit, with its name."""
    from scipy.sparse import csr_array

    import attributions as of

    yield "fit, greedy", lambda: fitted(splitter="greedy")
    model = fitted(splitter="greedy")
    yield "tree_inner", lambda: of.tree_inner(model, X, Y)
    yield "fit by default: unbiased", fitted
    yield "predict", lambda: model.predict(X)
    yield "held_out_gain", lambda: of.held_out_gain(model, X, Y)
    yield "held_out_gain_rows", lambda: of.held_out_gain_rows(model, X, Y)
    yield "tree_shap", lambda: of.tree_shap(model, X)
    yield "tree_shap, background", lambda: of.tree_shap(model, X, background=X[:3])
    yield "tree_shap_pairs", lambda: of.tree_shap_pairs(model, X)
    for form in ("symmetric", "sampled"):
        parts = X, Y, X[:100], Y[:100], form
        yield f"unbiased_gain, {form}", lambda parts=parts: of.unbiased_gain(model, *parts)
    for name in ("partial_inner", "partial_inner_rows", "tree_inner_rows", "tree_inner_pairs"):
        yield name, lambda name=name: getattr(of, name)(model, X, Y)
    for name in ("predecomp", "saabas", "absolute"):
        yield name, lambda name=name: getattr(of, name)(model, X)
    yield "forest_inner, permutation", lambda: (
        of.forest_inner(model, X, Y), of.permutation(model, X, Y),
    )  # fmt: skip
    yield "total_gain, partial_dependence", lambda: (
        of.total_gain(model), of.partial_dependence(model, 0, X),
    )  # fmt: skip
    trees, trees_of_labels = forest(), forest(LABELS, "RandomForestClassifier")
    for name in ("elastic_net", "ridge", "ols"):
        yield f"local_mdi, {name}", lambda name=name: of.local_mdi(trees, X, Y, linear_model=name)
    for name in ("logistic_elastic_net", "logistic_ridge"):
        yield (
            f"local_mdi, {name}",
            lambda name=name: of.local_mdi(trees_of_labels, X, LABELS, linear_model=name),
        )
    yield "local_mdi, rank", lambda: of.local_mdi(trees, X, Y, aggregate="rank")
    yield "mdi_plus, mdi_oob", lambda: (of.mdi_plus(trees, X, Y), of.mdi_oob(trees, X, Y))
    yield "fit, float32", lambda: fitted(X.astype(np.float32))
    yield "fit, sparse", lambda: fitted(csr_array(np.where(X > 1, X, 0.0)))
    yield "fit, cross-validated", lambda: fitted(splitter="cross_validated")
    yield (
        "fit, interactions and drawn columns",
        lambda: fitted(interaction_constraints=[[0, 1], [2, 3, 4]], colsample=0.5, random_state=0),
    )
    yield "fit, monotone", lambda: fitted(monotone_constraints=[1] + [0] * 9)
    for words, kind, y, options in (
        ("2 classes", "GBTClassifier", LABELS, {}),
        ("3 classes", "GBTClassifier", CLASSES, {}),
        ("quantile", "GBTRegressor", Y, {"loss": "quantile"}),
    ):
        other = fitted(X, y, kind, **options)
        yield f"held_out_gain, {words}", lambda other=other, y=y: of.held_out_gain(other, X, y)
    given = LEVELS, Y_OF_LEVELS
    yield (
        "fits of categories",
        lambda: [fitted(*given, splitter=splitter, **OF_LEVELS) for splitter in SPLITTERS],
    )
    yield (
        "fit, monotone, of categories",
        lambda: fitted(*given, monotone_constraints=[0] * 9 + [1], **OF_LEVELS),
    )
    words = fitted(*given, **OF_LEVELS)
    for name in ("tree_inner", "held_out_gain", "tree_inner_pairs"):
        yield f"{name}, categories", lambda name=name: getattr(of, name)(words, *given)
    yield "tree_shap, categories", lambda: of.tree_shap(words, LEVELS)
    yield (
        "tree_shap, background, categories",
        lambda: of.tree_shap(words, LEVELS, background=LEVELS[:3]),
    )
    yield "tree_shap_pairs, categories", lambda: of.tree_shap_pairs(words, LEVELS)
    yield (
        "unbiased_gain, categories",
        lambda: of.unbiased_gain(words, *given, LEVELS[:100], Y_OF_LEVELS[:100]),
    )
    yield "partial_dependence, categories", lambda: of.partial_dependence(words, 0, LEVELS)
    yield "fit of chunks", lambda: fitted(*in_chunks(X, Y), splitter="greedy")
    yield (
        "fit of chunks, categories",
        lambda: fitted(*in_chunks(*given), splitter="greedy", **OF_LEVELS),
    )
    yield (
        "fit of chunks, unbiased",
        lambda: fitted(*in_chunks(*given), splitter="unbiased", **OF_LEVELS),
    )
    for name in ("tree_inner", "held_out_gain"):
        yield f"{name} of chunks", lambda name=name: getattr(of, name)(model, *in_chunks(X, Y))


def count(translated, optimised):
    """Let Numba add the lines that it translates, and that LLVM optimises, to two counters."""
    add, optimise = CPUCodeLibrary.add_ir_module, CPUCodeLibrary._optimize_final_module

    def count_and_add(library, module):
        translated[library.name] += str(module).count("\n")
        return add(library, module)

    def count_and_optimise(library):
        optimised[library.name] += str(library._final_module).count("\n")
        return optimise(library)

    CPUCodeLibrary.add_ir_module = count_and_add
    CPUCodeLibrary._optimize_final_module = count_and_optimise


def report():
    """Make all calls; return the lines of each, and the largest functions, as text."""
    translated, optimised, before = Counter(), Counter(), (0, 0)
    count(translated, optimised)
    text = [f"{'':40} translated optimised"]
    for name, call in calls():
        call()
        now = translated.total(), optimised.total()
        text.append(f"{name:40} {now[0] - before[0]:10} {now[1] - before[1]:9}")
        before = now
    text.append(f"{'all':40} {before[0]:10} {before[1]:9}\n")
    for words, lines in (("translated", translated), ("optimised", optimised)):
        largest = ", ".join(f"{name} {n}" for name, n in lines.most_common(N_LARGEST))
        text.append(f"Largest functions, {words}: {largest}")
    return "\n".join(text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # rows are few, and the model has seen them
    print(report())  # noqa: T201
