"""Types of arguments that several modules name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

# What a parameter of type "file" takes: a path, or what the file would hold.
FileValue = str | os.PathLike[str] | Mapping[str, Any] | bytes
