"""Answers by the workers of a Ray cluster.

    import ray
    import borescope, borescope.ray

    ray.init("auto")
    run = borescope.open("s3://traces/step7/")
    answer = borescope.ray.map_reduce(run, ["breakdown", "kernels"], top=20)

Needs the extra ``ray`` (``pip install '.[ray]'`` in a checkout), here and on the workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._answer import Answer
from ._errors import Error, usage
from ._install import extra
from ._pieces import answer_of, map_piece, merge_parts, merged, pieces_of, question_of
from ._run import Run

__all__ = ["map_reduce"]

# How often a task is tried again whose worker is lost.
_RETRIES = 5


def map_reduce(run: Run, verbs: str | Iterable[str], *, pieces: int | None = None,
               sort: str | None = None, top: int | None = None, **options: Any) -> Answer:
    """The answer of one verb or several, mapped by the workers: the same, byte for byte, as that of
    ``run.ask`` here. The work of a worker that is lost is done again by another one.

    Args:
        run: a run that the workers can open by the same paths or URLs; they get its
            ``storage_options``.
        verbs: the verbs.
        pieces: how many tasks; four a processor of the cluster unless given, and at most one a file.
        sort: the column by which every table that has it is sorted.
        top: how many rows of each table are kept.
        options: the keywords of the verbs.
    """
    question = question_of(run, verbs, options)
    ray = _ray()
    map_one = ray.remote(max_retries=_RETRIES)(map_piece)
    merge = ray.remote(max_retries=_RETRIES)(merge_parts)
    count = pieces or 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    parts = merged([map_one.remote(piece, question) for piece in pieces_of(run, count)], merge.remote)
    try:
        return answer_of(run, ray.get(parts), sort, top)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Error):
            raise error.cause from None
        raise


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise usage("borescope.ray needs the package ray",
                    remedy=extra("ray")) from None
    if not ray.is_initialized():
        raise usage("Ray is not connected to a cluster", remedy="call ray.init(...) first")
    return ray
