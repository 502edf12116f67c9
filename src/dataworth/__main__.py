"""`python -m dataworth` is the `dataworth` script."""

from dataworth.cli import main

main()
