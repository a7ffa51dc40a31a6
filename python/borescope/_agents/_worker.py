"""Threads of the server, all of which begin with it: when a question comes, the system may have none left."""

from __future__ import annotations

import _thread
import asyncio
import os
import queue
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from .._errors import InputError

# How long a thread may take to begin, also on a machine that is busy.
_PATIENCE_S = 10

_Call = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Worker:
    """A thread for calls that block, which it makes in their order.

    A call that nobody awaits any more is made to its end, and the process does not wait for it when it ends.
    """

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        self._began = threading.Event()
        try:
            # Not threading.Thread, whose start waits for ever for a thread that finds no memory.
            _thread.start_new_thread(self._work, ())
            has_begun = self._began.wait(_PATIENCE_S)
        except RuntimeError:
            has_begun = False
        if not has_begun:
            raise InputError("the server cannot begin: the system gives it no thread",
                             remedy="let it have more threads or memory (ulimit -u, ulimit -v)")

    async def run(self, call: Callable[[], Any]) -> Any:
        """What the call returns or raises."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._calls.put((call, loop, future))
        return await future

    def _work(self) -> None:
        self._began.set()
        while True:
            call, loop, future = self._calls.get()
            result, error = None, None
            try:
                result = call()
            except BaseException as raised:  # for whoever awaits it
                error = raised
            try:
                loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                return  # the loop has ended
            except MemoryError:
                end_without_memory()


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return  # cancelled
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration):  # which a future refuses
        future.set_exception(RuntimeError(str(error)))
    else:
        future.set_exception(error)


def end_without_memory() -> NoReturn:
    """Ends the process: an answer that cannot be handed on would be awaited for ever."""
    os.write(2, b"borescope: out of memory\n")
    os._exit(2)
