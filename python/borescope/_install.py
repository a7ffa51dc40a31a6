"""How the package was installed: hints for its extras, and what another project's package does to it.

The distribution is called gpu-borescope. The name `borescope` of the Python Package Index belongs to another project,
whose module and command have the names of ours: installed beside this one, it replaces files of it.
"""

from __future__ import annotations

import os
import sys
import warnings
from email.parser import HeaderParser

DISTRIBUTION = "gpu-borescope"
_OTHER = "borescope"
_AGAIN = f"uninstall both (pip uninstall {_OTHER} {DISTRIBUTION}), then install {DISTRIBUTION} again"


def extra(name: str) -> str:
    """The remedy where a package is missing that an extra of this one brings."""
    return f"install Borescope with its extra: pip install '.[{name}]' in a checkout, or 'FILE.whl[{name}]'"


def _metadata_beside(folder: str) -> list[str]:
    """The files that describe distributions of the other name in a folder of packages."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name, "PKG-INFO" if name.endswith(".egg-info") else "METADATA") for name in names
            if name.startswith(f"{_OTHER}-") and name.endswith((".dist-info", ".egg-info"))]


def other_version() -> str | None:
    """The version of a distribution `borescope` in the folder that this package was installed into."""
    for path in _metadata_beside(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                fields = HeaderParser().parse(file, headersonly=True)
        except OSError:
            continue
        if (fields["Name"] or "").lower() == _OTHER:
            return fields["Version"] or "of an unknown version"
    return None


def warn_of_other() -> None:
    """Warns where the other project's package is installed over this one."""
    version = other_version()
    if version is not None:
        warnings.warn(f"the distribution {_OTHER} {version}, which is not {DISTRIBUTION}, is installed in the same "
                      f"folder and has files of the same names; {_AGAIN}", RuntimeWarning, stacklevel=3)


def is_replaced() -> bool:
    """Whether `import borescope` gives another project's package, although modules of this one are there."""
    return not hasattr(sys.modules.get("borescope"), "events_to_parquet")


def complaint() -> str:
    """What is said where the package is replaced."""
    where = getattr(sys.modules.get("borescope"), "__file__", None) or "its folder"
    return f"`import borescope` gives another project's package ({where}), not that of {DISTRIBUTION}; {_AGAIN}"
