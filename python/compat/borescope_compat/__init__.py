"""Borescope under the names and options of the tools it replaces.

Each module is a command: an argparse with exactly the options of the tool, which calls Borescope's own
command line in this process. Nothing is installed under the names of the tools, neither packages nor
commands, unless `borescope-compat install` is asked to, and then only where no tool has the name.
"""

__version__ = "0.1.0"
