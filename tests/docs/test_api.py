"""Every public function has an example that runs: doctests of the whole package run with the tests."""

import inspect

import pytest

import dataworth as dw


@pytest.mark.parametrize("name", [name for name in dw.__all__ if inspect.isroutine(getattr(dw, name))])
def test_a_public_function_has_an_example(name):
    assert ">>>" in inspect.getdoc(getattr(dw, name))
