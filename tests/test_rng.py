"""The random numbers are those of the published SplitMix64, and choices from them are fair."""

import numpy as np

from number_match.rng import below, draw


def test_numbers_are_the_published_ones() -> None:
    """The first five of seed 1234567 (https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64)."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert draw(np.array([1234567], np.uint64), np.arange(5, dtype=np.uint64)).tolist() == published


def test_keys_and_numbers_are_broadcast() -> None:
    keys = np.array([1, 2**64 - 1], np.uint64)
    both = draw(keys[:, None], np.arange(3, dtype=np.uint64)[None, :])
    assert both.shape == (2, 3)
    assert both[1].tolist() == draw(keys[1:], np.arange(3, dtype=np.uint64)).tolist()


def test_choices_below_a_limit_are_even() -> None:
    draws = draw(np.array([7], np.uint64), np.arange(60_000, dtype=np.uint64))
    counts = np.bincount(below(draws, 6), minlength=6)
    assert len(counts) == 6
    assert np.abs(counts - 10_000).max() < 500


def test_the_ends_of_the_range_are_reached_and_kept() -> None:
    ends = np.array([0, 2**64 - 1], np.uint64)
    assert below(ends, 9).tolist() == [0, 8]
    assert below(ends, 2**31).tolist() == [0, 2**31 - 1]
