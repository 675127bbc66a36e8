import numpy as np
import pytest

from attributions.simulated import simulated
from tests.asserts import assert_same


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_table(task):
    data = simulated(task, n_train=2000, n_valid=300, random_state=0)
    assert data.X_train.shape == (2000, 50)
    assert data.X_valid.shape == (300, 50)
    assert data.y_train.shape == (2000,)
    assert data.y_valid.shape == (300,)
    assert data.feature_names[0] == "x1"
    assert data.feature_names[49] == "x50"
    assert_same(data.X_train.min(axis=0), np.zeros(50))
    assert_same(data.X_train.max(axis=0), np.ones(50))
    for j in range(1, 51):
        levels = np.arange(j + 1) / j
        assert_same(np.unique(data.X_train[:, j - 1]), levels)
        assert np.isin(data.X_valid[:, j - 1], levels).all()
    assert len(set(data.relevant)) == 5
    assert data.relevant.max() < 10
    assert_same(data.relevant, np.sort(data.relevant))


def test_held_out_rows_are_scaled_by_the_training_rows():
    data = simulated(n_train=3, n_valid=500, random_state=1)
    assert data.X_valid.max() > 1


def test_levels_are_equally_likely():
    data = simulated(n_train=60_000, n_valid=1, random_state=2)
    for j in (1, 2, 9):
        share = np.unique(data.X_train[:, j - 1], return_counts=True)[1] / 60_000
        sd = np.sqrt(1 / (j + 1) * (1 - 1 / (j + 1)) / 60_000)
        assert (np.abs(share - 1 / (j + 1)) < 5 * sd).all()


@pytest.mark.parametrize("protocol", ["code", "text"])
def test_noise_of_the_regression(protocol):
    data = simulated(
        "regression", n_train=200_000, n_valid=100_000, protocol=protocol, random_state=4
    )
    for X, y in ((data.X_train, data.y_train), (data.X_valid, data.y_valid)):
        s = X[:, data.relevant].mean(axis=1)
        noise = y - s
        expected = 100 * s.var() if protocol == "code" else np.sqrt(100 * s.var())
        assert abs(noise.std() / expected - 1) < 5 / np.sqrt(2 * len(noise))
        assert abs(noise.mean()) < 5 * expected / np.sqrt(len(noise))


def test_relevant_features_among_all():
    columns = np.concatenate(
        [simulated(relevant="all", random_state=r).relevant for r in range(30)]
    )
    assert columns.max() > 40
    low = np.concatenate([simulated(relevant="low", random_state=r).relevant for r in range(30)])
    assert set(low) == set(range(10))


def test_seeds():
    one, again, other = (simulated(random_state=r) for r in (5, 5, 6))
    assert_same(one.X_train, again.X_train)
    assert_same(one.y_valid, again.y_valid)
    assert (one.X_train != other.X_train).any()
    assert (one.X_train != one.X_valid).any()
    more = simulated(n_train=1500, random_state=5)
    assert_same(more.X_valid, one.X_valid)  # both have all levels in training
    assert_same(more.y_valid, one.y_valid)


def test_unusable_arguments_are_refused_by_name():
    with pytest.raises(ValueError, match="task='ranking'; use 'regression' or 'classification'"):
        simulated("ranking")
    with pytest.raises(ValueError, match="relevant='high'; use 'low' or 'all'"):
        simulated(relevant="high")
    with pytest.raises(ValueError, match="protocol='paper'; use 'code' or 'text'"):
        simulated(protocol="paper")
    with pytest.raises(ValueError, match="n_train=1"):
        simulated(n_train=1)
