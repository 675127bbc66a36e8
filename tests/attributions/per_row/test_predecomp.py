import pytest
from hypothesis import given
from hypothesis import strategies as st

from attributions.per_row.individual import attribute_per_tree
from attributions.reference import definitions as reference
from attributions.testing import ensembles, rows_for
from tests.asserts import assert_same

pytestmark = pytest.mark.kernels


@given(st.data())
def test_equation_9_tree_by_tree(data):
    ensemble = data.draw(ensembles())
    X = data.draw(rows_for(ensemble))

    for m, values in attribute_per_tree(ensemble, X, "predecomp"):
        assert_same(values, [reference.predecomp(ensemble.trees[m], x) for x in X])
