"""`python -m borescope`: the command."""

from .cli import run

run()
