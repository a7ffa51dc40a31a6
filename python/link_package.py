#!/usr/bin/env python3
"""link_package.py SOURCE TARGET: lets TARGET hold links to everything in the package SOURCE, beside the
module that was built there. For trying the package from a build, without installing it."""

import sys
from pathlib import Path


def main() -> None:
    source, target = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    for link in target.iterdir():
        if link.is_symlink() and not link.exists():
            link.unlink()
    for item in source.iterdir():
        link = target / item.name
        if item.name != "__pycache__" and not link.is_symlink():
            link.symlink_to(item)


main()
