"""Numbers in words."""

import math

import pytest

from dataworth.wording import in_words


@pytest.mark.parametrize(
    ("per_row", "told"),
    [
        (math.log(1.06), "6 % more probability on"),
        (math.log(0.94), "6 % less probability on"),
        (math.log(1.004), "0.4 % more probability on"),
        (math.log(0.9996), "0.04 % less probability on"),
        (math.log(1.996), "100 % more probability on"),
        (math.log(2.5), "2.5 times the probability on"),
        (math.log(0.1), "90 % less probability on"),
        (1e-6, "no other probability on"),
        (0.0, "no other probability on"),
    ],
)
def test_nats_a_row_are_a_factor_of_probability(per_row, told):
    assert in_words(per_row).partition(": ")[2] == f"{told} the right answer"


def test_the_value_stands_before_its_words_in_its_unit():
    assert in_words(0.0563).startswith("+0.056 nats a test row: 6 % more")
    assert in_words(-0.2, unit="bits", factor=1 / math.log(2)).startswith("−0.29 bits a test row: 18 % less")


def test_numeric_labels_have_a_density():
    assert in_words(1.0, density=True).endswith("2.7 times the probability density at the right answer")
    assert in_words(1e9, density=True)  # no overflow
