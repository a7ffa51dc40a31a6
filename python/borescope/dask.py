"""Answers by the workers of a Dask cluster.

    from dask.distributed import Client
    import borescope, borescope.dask

    client = Client("tcp://scheduler:8786")
    run = borescope.open("s3://traces/step7/")
    answer = borescope.dask.map_reduce(run, ["breakdown", "kernels"], client, top=20)

Needs the extra ``dask`` (``pip install '.[dask]'`` in a checkout), here and on the workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._answer import Answer
from ._errors import usage
from ._install import extra
from ._pieces import answer_of, map_piece, merge_parts, merged, pieces_of, question_of
from ._run import Run

__all__ = ["map_reduce"]


def map_reduce(run: Run, verbs: str | Iterable[str], client: Any = None, *, pieces: int | None = None,
               sort: str | None = None, top: int | None = None, **options: Any) -> Answer:
    """The answer of one verb or several, mapped by the workers: the same, byte for byte, as that of
    ``run.ask`` here. The work of a worker that is lost is done again by another one.

    Args:
        run: a run that the workers can open by the same paths or URLs; they get its
            ``storage_options``.
        verbs: the verbs.
        client: a ``dask.distributed.Client``; the one that is current unless given.
        pieces: how many tasks; four a thread of the workers unless given, and at most one a file.
        sort: the column by which every table that has it is sorted.
        top: how many rows of each table are kept.
        options: the keywords of the verbs.
    """
    question = question_of(run, verbs, options)
    client = _client() if client is None else client
    threads = sum(client.nthreads().values())
    parts = [client.submit(map_piece, piece, question, pure=False)
             for piece in pieces_of(run, pieces or 4 * max(1, threads))]
    parts = merged(parts, lambda *some: client.submit(merge_parts, *some, pure=False))
    return answer_of(run, client.gather(parts), sort, top)


def _client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise usage("borescope.dask needs the package distributed",
                    remedy=extra("dask")) from None
    try:
        return get_client()
    except ValueError:
        raise usage("there is no client of Dask", parameter="client",
                    remedy="make one: dask.distributed.Client(...)") from None
