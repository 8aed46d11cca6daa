"""`python -m number_match` is the command `number-match`."""

from number_match.cli import main

main()
