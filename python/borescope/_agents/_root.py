"""The folder that an agent may read, and the runs in it."""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Callable

from .._errors import InputError, unreadable, usage
from .._progress import Progress
from .._run import Run
from ._content import captures_beside

# Runs that stay open, each with what is loaded of it.
_OPEN_RUNS = 4


class Root:
    """Opens runs below a folder, and nothing else: links are followed first."""

    def __init__(self, folder: str, progress: Callable[[Progress], None] | None = None) -> None:
        self.folder = os.path.realpath(folder)
        if not os.path.isdir(self.folder):
            raise unreadable(folder, "is no folder", remedy="--root names the folder with the recordings")
        self._progress = progress
        self._runs: OrderedDict[str, tuple[object, Run]] = OrderedDict()

    def open(self, name: str) -> tuple[str, Run]:
        """The run of a file or folder, and its name from the current folder."""
        path = _from_here(self._inside(name))
        run = Run(path, ranks=None, threads=0, memory_limit=None, progress=self._progress or False,
                  storage_options=None, keep="auto", captures=None, on_diagnostic="ignore")
        state = self._checked_state(run, name)
        known = self._runs.pop(path, None)
        if known is not None and known[0] == state:
            run = known[1]
        self._runs[path] = (state, run)
        while len(self._runs) > _OPEN_RUNS:
            self._runs.popitem(last=False)
        return path, run

    @property
    def progress(self) -> Callable[[Progress], None] | None:
        """Hears how far a question is, and may stop it."""
        return self._progress

    def path_of(self, name: str) -> str:
        """A file or folder below the root that is no run, from the current folder."""
        return _from_here(self._inside(name))

    def _inside(self, name: str) -> str:
        if not name:
            raise usage("the path is empty", remedy="'.' is the folder of --root itself")
        if "\0" in name:
            raise _outside(name)
        path = os.path.realpath(os.path.join(self.folder, name))
        if not self._holds(path):
            raise _outside(name)
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            raise unreadable(name, error.strerror or "cannot be read",
                             remedy="give a file or folder below the folder of --root") from None
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise unreadable(name, "is neither a file nor a folder")
        return path

    def _holds(self, path: str) -> bool:
        return path == self.folder or path.startswith(self.folder.rstrip(os.sep) + os.sep)

    def _checked_state(self, run: Run, name: str) -> object:
        """What changes when a file of the run does; an error where one is elsewhere."""
        state = []
        for path in [*run.files, *captures_beside(run.files)]:
            if not self._holds(os.path.realpath(path)):
                raise _outside(name)
            now = os.stat(path)
            if not stat.S_ISREG(now.st_mode):
                raise unreadable(os.path.basename(path), "is no file")
            state.append((path, now.st_size, now.st_mtime_ns, now.st_ino))
        return state


def _from_here(path: str) -> str:
    """The path from the current folder, not to be taken for standard input or an option."""
    short = os.path.relpath(path)
    return f"./{short}" if short.startswith("-") else short


def _outside(name: str) -> InputError:
    return unreadable(name[:200].replace("\0", "\\0"), "leads out of the folder of --root",
                      remedy="give a file or folder below it, and start the server with another --root "
                           "if it is elsewhere")
