#!/usr/bin/env python3
"""Whether `borescope postmortem` names those who are at fault, in jobs whose fault is known.

    check_faults.py BORESCOPE [--first SEED] [--seeds N] [--kind KIND] [--verbose]
    check_faults.py BORESCOPE --healthy [--lasting]   no cause is found in jobs that run, for long
    check_faults.py BORESCOPE --unchanged             nor another one in dumps that say the same in another way
    check_faults.py BORESCOPE --clocks                nor where the clock of a host is seconds or minutes off
    check_faults.py BORESCOPE --stale                 the dump of an earlier attempt counts for as much as none, one that is
                                                      minutes old makes nobody certain, and of two the later one counts
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import faults


def ask(borescope, folder):
    done = subprocess.run([borescope, "postmortem", str(folder), "-f", "json", "-q", "--threads", "1"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{folder}: status {done.returncode}: {done.stderr}")
    answer = json.loads(done.stdout)
    return {table["name"]: table for table in answer["tables"]}


def rows(tables, name):
    if name not in tables:
        return []
    columns = tables[name]["columns"]
    values = [column["values"] for column in columns]
    return [dict(zip([column["name"] for column in columns], row)) for row in zip(*values)]


def judge(job, culprits):
    """exact, cannot tell (nothing can be told, and nothing is claimed), among others, or wrong. Of what is wrong the
    caller finds out what would be right if no innocent rank lacked its dump: those dumps do not hold the answer."""
    kinds, ranks, can_tell = job.truth()
    primary = [row for row in culprits if row["primary"]]
    named = {row["rank"] for row in primary}
    certain = {row["rank"] for row in primary if row["certainty"] == "certain"}
    right_kind = all(row["kind"] in kinds for row in primary)
    if certain - ranks:
        return "wrong and certain"
    if named == ranks and right_kind:
        return "exact"
    if primary and all(row["certainty"] == "cannot tell" for row in primary) and ranks <= named:
        return "cannot tell"
    order = {row["rank"] for row in culprits if row["kind"] == "order"}
    if job.fault in ("swapped", "skipped") and ranks <= order:
        return "among those who wait for each other"
    return "wrong"


def asked(borescope, job, changes):
    folder = Path(tempfile.mkdtemp(prefix="postmortem-"))
    job.write(folder, changes)
    tables = ask(borescope, folder)
    shutil.rmtree(folder)
    return tables


def check_healthy(borescope, seeds, lasts):
    """Dumps of a running job hold outstanding operations, too."""
    bad = 0
    for seed in seeds:
        tables = asked(borescope, faults.make_healthy(seed, lasts), {"missing": False, "copied": False, "age_ns": 1_000_000_000})
        severities = {row["severity"] for row in rows(tables, "postmortem")}
        culprits = rows(tables, "hang_culprits")
        if severities - {"info"} or culprits:
            bad += 1
            print(seed, severities, [(row["rank"], row["kind"]) for row in culprits])
    print(f"{len(seeds) - bad} of {len(seeds)} healthy jobs have no culprit")
    return bad == 0


def rename(rank):
    return 3 * rank + 1


CHANGES = {"as JSON": {"json": True}, "as pickle": {"json": False, "gzip": False},
           "without stacks": {"frames": False}, "other ranks": {"rename": rename},
           "another order of files": {"name": lambda rank: f"{rank * 7919 % 1000:03}_rank{rank}_dump"},
           "a healthy rank": {"guest": True}, "rings cut to what is outstanding": {"cut": True}}


def check_unchanged(borescope, seeds):
    bad = asked_about = 0
    for seed in seeds:
        job = faults.make(seed)
        if job is None:
            continue
        known = {(row["rank"], row["kind"]) for row in rows(asked(borescope, job, {}), "hang_culprits") if row["primary"]}
        for name, change in CHANGES.items():
            found = {(row["rank"], row["kind"])
                     for row in rows(asked(borescope, job, change), "hang_culprits") if row["primary"]}
            expected = {(rename(rank), kind) for rank, kind in known} if "rename" in change else known
            asked_about += 1
            if found != expected:
                bad += 1
                print(seed, job.fault, name, "gives", sorted(found), "for", sorted(expected))
    print(f"{asked_about - bad} of {asked_about} changed folders have the same culprits")
    return bad == 0


def check_clocks(borescope, seeds):
    """A clock that is off changes neither who is at fault nor what kind of fault it is, and no running job hangs for it."""
    bad = asked_about = 0
    options = {"missing": False, "active": False, "ring": 2000, "copied": False, "json": False}
    named = lambda tables: {(row["rank"], row["kind"]) for row in rows(tables, "hang_culprits") if row["primary"]}
    for seed in seeds:
        healthy = seed % 2 == 0
        job = faults.make_healthy(seed, True) if healthy else faults.make(seed)
        if job is None:
            continue
        changes = {**options, "age_ns": 1_000_000_000} if healthy else options
        known = named(asked(borescope, job, changes))
        job.clock[job.rng.randrange(job.world)] = job.rng.choice((-1, 1)) * job.rng.choice((3, 20, 90, 400)) * 10**9
        found = named(asked(borescope, job, changes))
        asked_about += 1
        if found != known:
            bad += 1
            print(seed, job.fault, sorted(found)[:6], "for", sorted(known)[:6])
    print(f"{asked_about - bad} of {asked_about} folders with a clock that is off have the same culprits")
    return bad == 0


def check_stale(borescope, seeds):
    """A rank whose dump is of an earlier attempt is named where one without a dump is, and changes nothing else."""
    bad = asked_about = certain = 0
    for seed in seeds:
        job = faults.make(seed)
        if job is None or job.world < 4 or job.fault == "gone":
            continue
        rank = job.rng.randrange(job.world)
        options = {"missing": False, "active": False, "ring": 2000, "copied": False}
        expected, found = (rows(asked(borescope, job, {**options, **change}), "hang_culprits")
                           for change in ({"without": {rank}}, {"stale": rank}))
        asked_about += 1
        ranks = job.truth()[1]
        certain += any(row["certainty"] == "certain" and row["rank"] not in ranks for row in found)
        if [(row["rank"], row["kind"]) for row in expected] != [(row["rank"], row["kind"]) for row in found]:
            bad += 1
            print(seed, job.fault, job.truth(), rank, [(row["rank"], row["kind"], row["certainty"]) for row in found][:6],
                  "for", [(row["rank"], row["kind"], row["certainty"]) for row in expected][:6])
    print(f"{asked_about - bad} of {asked_about} folders with a dump of an earlier attempt have the culprits that they have "
          f"without it; {certain} wrong and certain")
    return bad <= 0.1 * asked_about and certain == 0


def wrong_and_certain(job, culprits):
    return any(row["certainty"] == "certain" and row["rank"] not in job.truth()[1] for row in culprits)


def check_minutes(borescope, seeds):
    """One dump is one to five minutes older than the others, of the same attempt of the job or of the one before: it may
    hide who is at fault, but makes nobody certain who is not."""
    asked_about = certain = 0
    alike = Counter()
    for seed in seeds:
        job = faults.make(seed)
        if job is None or job.world < 4 or job.fault == "gone":
            continue
        lasted = 400  # seconds
        job.tick_ns = lasted * 1000 * faults.MS // job.tick
        rank = job.rng.randrange(job.world)
        age = job.rng.randint(60, 300)
        options = {"missing": False, "active": seed % 3 == 0, "ring": job.rng.choice((20, 2000)), "copied": False}
        without = asked(borescope, job, {**options, "without": {rank}})
        of_job = asked(borescope, job, {**options, "old": {rank: faults.at_tick(job, job.tick - age * job.tick // lasted)}})
        of_attempt = asked(borescope, job, {**options, "stale": rank, "stale_ns": age * 1000 * faults.MS})
        asked_about += 1
        named = lambda tables: {(row["rank"], row["kind"]) for row in rows(tables, "hang_culprits") if row["primary"]}
        for name, tables in (("the job", of_job), ("the attempt before", of_attempt)):
            alike[name] += named(tables) == named(without)
            if wrong_and_certain(job, rows(tables, "hang_culprits")):
                certain += 1
                print(seed, job.fault, job.truth(), rank, "of", name, age, [(row["rank"], row["kind"], row["certainty"]) for row in rows(tables, "hang_culprits")][:6])
    print(f"{asked_about} folders with a dump that is minutes older: {dict(alike)} name who is named without it; {certain} wrong and certain")
    return certain == 0


def check_twice(borescope, seeds):
    """Dumps that were written twice: those of the second time count, whatever the folders are called."""
    bad = asked_about = 0
    for seed in seeds:
        job = faults.make(seed)
        if job is None or job.fault == "gone":
            continue
        job.tick_ns = 1000 * faults.MS
        options = {"missing": False, "ring": 2000, "active": False, "copied": False}
        found = []
        for earlier, later in ((None, "b"), ("a", "b"), ("b", "a")):
            folder = Path(tempfile.mkdtemp(prefix="postmortem-"))
            if earlier:
                faults.at_tick(job, job.tick - job.rng.randint(4, job.tick // 2)).write(folder / earlier, options)
            job.write(folder / later, options)
            found.append([(row["rank"], row["kind"], row["certainty"]) for row in rows(ask(borescope, folder), "hang_culprits")])
            shutil.rmtree(folder)
        asked_about += 1
        if found[1] != found[0] or found[2] != found[0]:
            bad += 1
            print(seed, job.fault, job.truth(), [one[:4] for one in found])
    print(f"{asked_about - bad} of {asked_about} folders with dumps of two times have the culprits of the later ones")
    return bad == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("borescope")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--kind")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--healthy", action="store_true")
    parser.add_argument("--lasting", action="store_true")
    parser.add_argument("--unchanged", action="store_true")
    parser.add_argument("--stale", action="store_true")
    parser.add_argument("--clocks", action="store_true")
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    if args.clocks:
        return 0 if check_clocks(args.borescope, seeds) else 1
    if args.stale:
        some = seeds[:len(seeds) // 3]
        checks = (check_stale(args.borescope, seeds), check_minutes(args.borescope, some), check_twice(args.borescope, some))
        return 0 if all(checks) else 1
    if args.healthy or args.unchanged:
        good = check_healthy(args.borescope, seeds, args.lasting) if args.healthy else check_unchanged(args.borescope, seeds)
        return 0 if good else 1
    counts, by_kind = Counter(), {}
    for seed in seeds:
        job = faults.make(seed, args.kind)
        if job is None:
            continue
        folder = Path(tempfile.mkdtemp(prefix="postmortem-"))
        gone = job.write(folder)
        culprits = rows(ask(args.borescope, folder), "hang_culprits")
        verdict = judge(job, culprits)
        if verdict == "wrong" and gone - set(job.faulty):
            # Is it for want of the dump of a rank that is innocent?
            whole = rows(asked(args.borescope, job, {"missing": False}), "hang_culprits")
            verdict = "wrong" if judge(job, whole).startswith("wrong") else "wrong for want of a dump"
        counts[verdict] += 1
        by_kind.setdefault(job.fault, Counter())[verdict] += 1
        if args.verbose and verdict not in ("exact", "cannot tell"):
            print(seed, job.fault, job.truth(), "without a dump:", sorted(gone), "world", job.world, verdict)
            for row in culprits:
                print("   ", row["rank"], row["kind"], row["primary"], row["certainty"], row["group_desc"], row["seq"])
        if args.keep and verdict not in ("exact", "cannot tell"):
            shutil.copytree(folder, args.keep / str(seed), dirs_exist_ok=True)
        shutil.rmtree(folder)
    total = sum(counts.values())
    good = sum(count for verdict, count in counts.items() if not verdict.startswith("wrong"))
    for kind, verdicts in sorted(by_kind.items()):
        print(f"{kind:10}", dict(verdicts))
    print(f"{good} of {total} right; {dict(counts)}")
    # What hangs on the dump of an innocent rank that is not there does not follow from the others: of the jobs that can
    # be decided nearly all have to be right, and most of all.
    decidable = total - counts["wrong for want of a dump"]
    print(f"{good} of {decidable} that can be decided from the dumps that are there")
    return 0 if good >= 0.98 * decidable and good >= 0.97 * total and counts["wrong and certain"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
