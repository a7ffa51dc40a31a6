#!/usr/bin/env python3
"""Checks what `borescope launch k8s` writes, without a cluster.

    check_kubernetes.py --borescope BIN --synth BIN [--environment DIR]

The jobs are valid under the strict schemas of several versions of Kubernetes (kubernetes-validate).
Their containers' command lines are run here for every index, with variables substituted as kubelet
does, and so is that of the reduce: its answer must be, byte for byte, that of one process with the
whole run. Names of folders have what YAML, shells and kubelet take specially. What a container may
write to is what the test lets it write to.

DIR is a virtual environment; where it exists, its Python runs this script. Exit status: 0 all is
well, 1 something is not, 77 PyYAML or kubernetes-validate is not installed.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
VERSIONS = ("1.31.0", "1.37.0")
RANKS = 5
SHARDS = 3
VERBS = "kernels,ops"
RUN = 'it\'s "a" run: $(HOME) & #1'
PARTS = "parts $(JOB_COMPLETION_INDEX) $$ \\n {}"


def run_in(environment: Path) -> None:
    """Starts this script again with the Python of the environment, if there is one."""
    python = environment / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != environment.resolve():
        os.execv(python, [str(python), *sys.argv])


def substituted(word: str, variables: dict[str, str]) -> str:
    """$(NAME) of a known variable is its value, $$ a dollar; all else remains."""
    return re.sub(r"\$(\$|\((\w+)\))",
                  lambda found: "$" if found[1] == "$" else variables.get(found[2], found[0]), word)


class Test:
    def __init__(self, borescope: Path, synth: Path, folder: Path) -> None:
        self.borescope, self.folder = borescope, folder
        subprocess.run([synth, "--ranks", str(RANKS), "--steps", "3", "--gzip", "--out",
                        str(folder / RUN)], check=True, capture_output=True)
        (folder / RUN / "truth.json").unlink()

    def ask(self, *words: str) -> str:
        return subprocess.run([self.borescope, *words], cwd=self.folder, check=True, text=True,
                              capture_output=True).stdout

    def manifest(self, *words: str) -> str:
        return self.ask("launch", "k8s", VERBS, str(self.folder / RUN), "-o", str(self.folder / PARTS),
                        "--shards", str(SHARDS), "--image", "registry.example/borescope:1",
                        "--volume", f"data:{self.folder}", *words)

    def run_container(self, job: dict, variables: dict[str, str]) -> None:
        container = job["spec"]["template"]["spec"]["containers"][0]
        words = [substituted(word, variables) for word in container["command"]]
        assert words[0] == "borescope", words
        done = subprocess.run([self.borescope, *words[1:]], cwd="/", text=True, capture_output=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": "/", **variables}, check=False)
        assert done.returncode == 0, (words, done.stderr)


def jobs_of(text: str) -> list[dict]:
    import yaml
    return list(yaml.safe_load_all(text))


def is_valid(test: Test) -> None:
    import kubernetes_validate
    for words in ((), ("-f", "json", "--cpus", "4", "--mem", "1500M", "--user", "70000", "--name", "a-1"),
                  ("--volume", "other:/other/,third:/third", "--force")):
        jobs = jobs_of(test.manifest(*words))
        assert [job["kind"] for job in jobs] == ["Job", "Job"]
        for job in jobs:
            for version in VERSIONS:
                kubernetes_validate.validate(job, version, strict=True)
    # The schema that is checked against does refuse something.
    try:
        kubernetes_validate.validate({**jobs[0], "specification": {}}, VERSIONS[0], strict=True)
    except kubernetes_validate.ValidationError:
        return
    raise AssertionError("an unknown field is accepted")


def is_restricted(test: Test) -> None:
    """What the restricted Pod Security Standard asks for, and no access to the cluster."""
    for job in jobs_of(test.manifest("--volume", "other:/other")):
        pod = job["spec"]["template"]["spec"]
        container = pod["containers"][0]
        security = container["securityContext"]
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert security == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                            "capabilities": {"drop": ["ALL"]}}
        assert pod["automountServiceAccountToken"] is False and "ports" not in container
        assert container["resources"]["limits"] == {"cpu": "1", "memory": "2048Mi"}
        mounts = {mount["mountPath"]: mount.get("readOnly", False)
                  for mount in container["volumeMounts"]}
        assert mounts == {str(test.folder): False, "/other": True, "/tmp": False}


def names_survive(test: Test) -> None:
    done, reduce = jobs_of(test.manifest())
    assert done["spec"]["completionMode"] == "Indexed" and done["spec"]["completions"] == SHARDS
    words = [substituted(word, {}) for word in
             reduce["spec"]["template"]["spec"]["containers"][0]["command"]]
    escaped = str(test.folder / PARTS).replace("\\", "\\\\")
    assert words[-1] == f"{escaped}/*-of-{SHARDS:05}.part", words


def answer_is_that_of_one_process(test: Test) -> None:
    """Also where the folder has a part of an earlier division."""
    test.ask("map", VERBS, RUN, "--shard", f"0/{SHARDS - 1}", "-o", f"{PARTS}/")
    mapped, reduced = jobs_of(test.manifest("-f", "json", "--top", "7"))
    assert reduced["spec"]["suspend"] is True
    for index in reversed(range(SHARDS)):
        test.run_container(mapped, {"JOB_COMPLETION_INDEX": str(index)})
    parts = sorted(path.name for path in (test.folder / PARTS).glob("*.part"))
    earlier = f"00000-of-{SHARDS - 1:05}.part"
    assert parts == [earlier, *(f"{index:05}-of-{SHARDS:05}.part" for index in range(SHARDS))], parts
    test.run_container(reduced, {})
    whole = test.ask(VERBS, str(test.folder / RUN), "-f", "json", "--top", "7")
    assert (test.folder / PARTS / "answer.json").read_text() == whole, "the answers differ"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True, type=Path)
    parser.add_argument("--synth", required=True, type=Path)
    parser.add_argument("--environment", type=Path)
    arguments = parser.parse_args()
    if arguments.environment is not None:
        run_in(arguments.environment)
    try:
        import kubernetes_validate  # noqa: F401
        import yaml  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error.name} is not installed (scripts/setup --dev)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        test = Test(arguments.borescope.resolve(), arguments.synth.resolve(), Path(name))
        for step in (is_valid, is_restricted, names_survive, answer_is_that_of_one_process):
            step(test)
            print(f"{step.__name__}: yes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
