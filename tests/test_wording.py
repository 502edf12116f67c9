"""Numbers in words."""

import math

import pytest

from dataworth.wording import in_words


@pytest.mark.parametrize(
    ("per_row", "told"),
    [
        (math.log(1.06), "+0.058 nats a test row: 6 % more probability on"),
        (math.log(0.94), "−0.062 nats a test row: 6 % less probability on"),
        (math.log(1.004), "+0.004 nats a test row: 0.4 % more probability on"),
        (math.log(1.996), "+0.69 nats a test row: 100 % more probability on"),
        (math.log(2.5), "+0.92 nats a test row: 2.5 times the probability on"),
        (math.log(0.1), "−2.3 nats a test row: 90 % less probability on"),
        (1e-6, "+1e-06 nats a test row: no other probability on"),
        (-1e-16, "0 nats a test row: no other probability on"),
    ],
)
def test_nats_a_row_are_a_factor_of_probability(per_row, told):
    assert in_words(per_row).replace("−06", "-06") == f"{told} the right answer"


def test_units_and_numeric_labels():
    assert in_words(-0.2, unit="bits", factor=1 / math.log(2)).startswith("−0.29 bits a test row: 18 % less")
    assert in_words(1.0, density=True).endswith("2.7 times the probability density at the right answer")
    assert in_words(1e9, density=True)  # no overflow
