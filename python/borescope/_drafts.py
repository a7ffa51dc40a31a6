"""Files that appear complete or not at all: written beside their target and renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from . import _native
from ._errors import unreadable


@contextmanager
def draft_of(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of an empty file beside ``path``, which takes its place when the block ends well and is
    removed when it does not."""
    target = os.path.abspath(os.fspath(path))
    _native.check_no_foreign_link(os.fsencode(target))
    try:
        handle, draft = tempfile.mkstemp(prefix=".borescope-", dir=os.path.dirname(target))
    except OSError as error:
        raise unreadable(path, f"cannot write: {error.strerror}",
                         remedy="name a file in a folder that can be written to") from error
    os.close(handle)
    try:
        yield draft
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
