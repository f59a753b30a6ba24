"""`python -m acpgen`."""

from acpgen.cli import main

main()
