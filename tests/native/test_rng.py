"""The counter-based generator against its published vectors, and the draws made of it."""

from __future__ import annotations

import numpy as np
import pytest

from mercer._native import kernels

testing = kernels.testing


def _words(text):
    return [int(word, 16) for word in text.split()]


# Philox4x32-10 known-answer vectors of Random123 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
VECTORS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_a_block_is_the_published_one(counter, key, expected):
    assert testing.philox_block(_words(counter), _words(key)) == _words(expected)


def test_a_block_takes_four_words_and_two():
    for counter, key in (([0] * 3, [0] * 2), ([0] * 4, [0] * 3), ([], [])):
        with pytest.raises(ValueError, match="4 words and a key of 2"):
            testing.philox_block(counter, key)


def test_a_stream_is_made_of_blocks_in_the_order_of_the_counter():
    seed, task = 0x299F31D0A4093822, 0x0370734413198A2E
    key, upper = [0xA4093822, 0x299F31D0], [0x13198A2E, 0x03707344]
    words = [word for low in range(5) for word in testing.philox_block([low, 0, *upper], key)]
    expected = [((high << 32 | low) >> 11) * 2.0**-53 for high, low in zip(words[::2], words[1::2], strict=True)]
    assert testing.philox_uniforms(seed, task, 10) == expected


def test_uniforms_are_uniform_on_the_unit_interval():
    draws = np.array(testing.philox_uniforms(1, 0, 200_000))
    assert draws.min() >= 0
    assert draws.max() < 1
    # Five standard deviations: the draws are fixed by the seed, so this never flickers.
    assert abs(draws.mean() - 0.5) < 5 / np.sqrt(12 * draws.size)
    assert abs(draws.var() - 1 / 12) < 5 / np.sqrt(180 * draws.size)
    counts = np.histogram(draws, bins=100, range=(0, 1))[0]
    assert ((counts - 2000) ** 2 / 2000).sum() < 99 + 5 * np.sqrt(2 * 99)
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 5 / np.sqrt(draws.size)


def test_streams_repeat_and_differ_by_seed_and_by_task():
    def draws(seed, task):
        return tuple(testing.philox_uniforms(seed, task, 8))

    assert draws(3, 5) == draws(3, 5)
    names = [(seed, task) for seed in (0, 1, 2**32, 2**64 - 1) for task in (0, 1, 2**32, 2**64 - 1)]
    assert len({draws(*name) for name in names}) == len(names)
    one, other = np.array(testing.philox_uniforms(3, 5, 50_000)), np.array(testing.philox_uniforms(3, 6, 50_000))
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(one.size)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1000, 3 * 2**30, 2**32 - 1])
def test_draws_below_a_bound_are_in_range_and_even(bound):
    draws = np.array(testing.philox_below(1, 0, bound, 100_000), dtype=np.float64)
    assert draws.min() >= 0
    assert draws.max() < bound
    n_bins = min(bound, 8)
    counts = np.histogram(draws, bins=n_bins, range=(0, bound))[0]
    shares = np.diff(np.ceil(np.linspace(0, bound, n_bins + 1))) / bound  # whole numbers in each bin
    expected = draws.size * shares
    assert ((counts - expected) ** 2 / expected).sum() < n_bins - 1 + 5 * np.sqrt(2 * n_bins)


def test_a_bound_of_zero_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        testing.philox_below(1, 0, 0, 5)
