"""Verbs from Python give what the command line gives, byte for byte."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys

import pytest
from conftest import DEMO, ROOT, SMALL

import borescope
from borescope import _verbs

INPUTS = {"memory": SMALL / "memory.json", "counters": SMALL / "counters.json",
          "graphs": SMALL / "graphs.json", "inference": SMALL / "serving.json"}
ORDINARY = sorted(set(_verbs.PARAMETERS) - _verbs.TAKES_TWO - _verbs.WORDS - {"report"})


def command(*words: object) -> bytes:
    done = subprocess.run([sys.executable, "-m", "borescope", *map(str, words)], capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("verb", ORDINARY)
def test_every_verb_as_the_command(verb: str) -> None:
    source = INPUTS.get(verb, DEMO)
    answer = getattr(borescope.open(source), verb.replace("-", "_"))()
    assert answer.to_json() == command(verb, source, "-f", "json", "-q")


def test_keywords_of_each_kind_as_options(demo: borescope.Run) -> None:
    assert demo.idle(kernel_wait=50_000, by=["step"], rank=[1]).to_json() == command(
        "idle", "--kernel-wait", "50us", "--by", "step", "--rank", 1, DEMO, "-f", "json", "-q")
    assert demo.kernels(all=True, top=2, sort="mean_ns").to_json() == command(
        "kernels", "--all", "--top", 2, "--sort", "mean_ns", DEMO, "-f", "json", "-q")
    assert demo.gaps(edges=["10us", 1_000_000]).to_json() == command(
        "gaps", "--edges", "10us,1ms", DEMO, "-f", "json", "-q")
    assert demo.flame(min_share=0.25, depth=3).to_json() == command(
        "flame", "--min-share", "25%", "--depth", 3, DEMO, "-f", "json", "-q")
    assert demo.kernels(begin="20%", end="-5ms").to_json() == command(
        "kernels", "--begin", "20%", "--end", "-5ms", DEMO, "-f", "json", "-q")
    assert demo.whatif(scale=["comm=0.5", "copy=0"], launch="0.5").to_json() == command(
        "whatif", "--scale", "comm=0.5", "--scale", "copy=0", "--launch", "0.5", DEMO, "-f", "json", "-q")
    assert demo.whatif(scale="comm=0.5").to_json() == demo.whatif(scale=["comm=0.5"]).to_json()
    assert demo.breakdown(step="0..1").to_json() == demo.breakdown(step=range(0, 2)).to_json()
    assert demo.critical_path(step=1).to_json() == command(
        "critical-path", "--step", 1, DEMO, "-f", "json", "-q")


def test_contents_in_place_of_a_file(demo: borescope.Run) -> None:
    mine = {"mine": ["nccl"]}
    rows = demo.kernels(patterns=mine)["kernel_categories"].to_dicts()
    assert [row for row in rows if row["category"] == "mine"]
    assert demo.kernels(patterns=b'{"mine": ["nccl"]}')["kernel_categories"].to_dicts() == rows


def test_several_verbs_and_a_window(demo: borescope.Run) -> None:
    answer = demo.ask("idle", "overlap", rank=0)
    assert answer.to_json() == command("idle,overlap", "--rank", 0, DEMO, "-f", "json", "-q")
    assert borescope.open(DEMO, ranks=0).idle().to_json() == demo.idle(rank=0).to_json()
    assert borescope.open(DEMO, ranks=0).idle(rank=1).to_json() == demo.idle(rank=1).to_json()


def test_verbs_with_a_word_and_of_two_runs(demo: borescope.Run) -> None:
    one, two = DEMO / "rank-0.json.gz", DEMO / "rank-1.json.gz"
    expected = command("diff", one, two, "-f", "json", "-q")
    assert borescope.open(two).diff(borescope.open(one)).to_json() == expected
    assert borescope.open(two).diff(one).to_json() == expected
    assert demo.stats("cuda_gpu_kern_sum").to_json() == command(
        "stats", "cuda_gpu_kern_sum", DEMO, "-f", "json", "-q")


def test_sql(demo: borescope.Run) -> None:
    table = demo.sql("select :a as a, ? as b, null as c, rank from kernels limit 1",
                     {"a": "x", "": 2.5})
    assert table.to_dicts() == [{"a": "x", "b": 2.5, "c": None, "rank": 0}]
    assert demo.sql("select count(*) n from kernels", rows=1)["n"][0] == 970
    only = borescope.open(DEMO, ranks=1).sql("select distinct rank from kernels")
    assert only["rank"].to_list() == [1]
    assert len(demo.query("select 1; select 2")) == 2
    with pytest.raises(borescope.UsageError, match="one statement"):
        demo.sql("select 1; select 2")
    with pytest.raises(borescope.UsageError, match="no such column"):
        demo.sql("select no_such from kernels")
    assert "kernels" in demo.schema().tables[0]["table"].to_list()


def test_map_and_reduce() -> None:
    parts = [borescope.open(path).map("kernels", "breakdown") for path in sorted(DEMO.iterdir())]
    expected = command("kernels,breakdown", DEMO, "-f", "json", "-q")
    assert borescope.reduce(reversed(parts)).to_json() == expected
    assert borescope.reduce([borescope.merge(parts)]).to_json() == expected
    with pytest.raises(borescope.FormatError, match="part 1"):
        borescope.reduce([parts[0], b"nonsense"])


def test_report_and_convert(demo: borescope.Run, tmp_path: object) -> None:
    page = os.path.join(str(tmp_path), "report.html")
    demo.report(page)
    with open(page) as file:
        assert file.read() == demo.report_html()
    short = [os.path.join(str(tmp_path), name) for name in ("card.svg", "short.md")]
    demo.report(card=short[0], markdown=short[1])
    with open(short[0]) as card, open(short[1]) as markdown:
        assert card.read().startswith("<svg") and markdown.read().startswith("### GPU profile of ")
    with pytest.raises(borescope.UsageError, match="needs a page"):
        demo.report()
    target = os.path.join(str(tmp_path), "demo.rpd")
    one = borescope.open(DEMO / "rank-0.json.gz")
    done = demo.convert(os.path.join(os.fspath(tmp_path), "aligned.json"), align="collectives")
    assert [os.path.basename(file.file) for file in done.aligned] == ["rank-1.json.gz"]
    done = one.convert(target)
    assert done.format == "rpd" and done.written > 1000
    assert borescope.open(target).busy()["busy"]["busy_ns"].to_list() == [30178591]
    with pytest.raises(borescope.UsageError, match="did you mean"):
        demo.report(page, stepp=1)


def test_examples() -> None:
    os.chdir(ROOT)
    for module in (borescope, borescope._run, _verbs):
        failed, tried = doctest.testmod(module)
        assert tried > 0 and failed == 0, module.__name__


def test_every_verb_has_an_example() -> None:
    for verb in _verbs.PARAMETERS:
        if verb != "report":
            method = getattr(borescope.Run, verb.replace("-", "_"))
            assert ">>> run." in method.__doc__, verb


# Values that no parameter of a type takes.
BAD = {"ranges": ["x", "3..1"], "choice": ["nope"], "count": ["x", "0", "-3"], "number": ["x", "-1"], "time": ["soon"],
       "times": ["x"], "share": ["200", "x"], "list": ["nope"]}


def test_errors_name_their_parameter(demo: borescope.Run) -> None:
    """Of every verb, parameter and kind of wrong value."""
    checked = 0
    for verb in ORDINARY:
        types = _verbs.PARAMETERS[verb]
        for name, kind in types.items():
            for value in BAD.get(kind, []):
                with pytest.raises(borescope.Error) as caught:
                    demo._answer([verb], {name: value}, types)
                if isinstance(caught.value, borescope.UsageError):  # else nothing was recorded for this verb
                    assert caught.value.parameter == name, (verb, name, value, str(caught.value))
                    checked += 1
    assert checked > 500
