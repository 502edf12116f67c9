"""`python -m dataworth.cli` is the `dataworth` script."""

from . import main

main()
