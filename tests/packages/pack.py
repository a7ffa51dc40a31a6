#!/usr/bin/env python3
"""Packs a build into BUILD/packages, for the checks of the package.

    pack.py BUILD
"""

import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
NEEDED = ("cpack", "dpkg-deb", "dpkg-shlibdeps")


def packed(build: Path) -> Path | None:
    """The package of the build, if it was packed."""
    found = sorted((build / "packages").glob("*.deb"))
    return found[0] if len(found) == 1 else None


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} is not installed")
        return SKIPPED
    shutil.rmtree(build / "packages", ignore_errors=True)
    done = subprocess.run(["cpack", "--config", build / "CPackConfig.cmake"], cwd=build, check=False)
    return done.returncode or (0 if packed(build) else f"{build / 'packages'} does not hold one package")


if __name__ == "__main__":
    sys.exit(main())
