"""Strict readers of the reports that `borescope check` writes.

They allow less than the published schemas (official_schemas.py): exactly the members that are written, and
what no schema can say, such as counts that agree. Each reader returns what is wrong, a line each.
"""

import json
import re
import xml.etree.ElementTree as ElementTree

# Of JUnit: the elements that are used, their required and their other attributes, their children.
JUNIT = {
    "testsuites": ((), ("name", "time", "tests", "failures", "disabled", "errors"), ("testsuite",)),
    "testsuite": (("name", "tests", "failures", "errors"), ("skipped", "time", "timestamp", "hostname", "id", "package"),
                  ("testcase",)),
    "testcase": (("name", "classname"), ("time",), ("failure", "error", "skipped", "system-out")),
    "failure": ((), ("type", "message"), ()),
    "error": ((), ("type", "message"), ()),
    "skipped": ((), (), ()),
    "system-out": ((), (), ()),
}

# Of SARIF 2.1.0: members by the name of the object, with type and whether they are required.
TEXT, COUNT = str, int
SARIF = {
    "log": {"$schema": (TEXT, False), "version": (TEXT, True), "runs": (["run"], True)},
    "run": {"tool": ("tool", True), "results": (["result"], False)},
    "tool": {"driver": ("driver", True)},
    "driver": {"name": (TEXT, True), "version": (TEXT, False), "rules": (["rule"], False)},
    "rule": {"id": (TEXT, True), "shortDescription": ("message", False)},
    "message": {"text": (TEXT, True)},
    "result": {"ruleId": (TEXT, False), "ruleIndex": (COUNT, False), "level": (TEXT, False), "message": ("message", True),
               "locations": (["location"], False)},
    "location": {"physicalLocation": ("physical", False)},
    "physical": {"artifactLocation": ("artifact", True), "region": ("region", False)},
    "artifact": {"uri": (TEXT, False)},
    "region": {"startLine": (COUNT, False)},
}
URI_REFERENCE = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-F]{2})+")


def junit_problems(text):
    problems = []

    def look(element):
        known = JUNIT.get(element.tag)
        if known is None:
            problems.append(f"JUnit has no element {element.tag}")
            return
        required, other, children = known
        problems.extend(f"{element.tag} needs {name}" for name in required if name not in element.attrib)
        problems.extend(f"{element.tag} has no {name}" for name in element.attrib if name not in required + other)
        for child in element:
            if child.tag not in children:
                problems.append(f"{element.tag} holds {child.tag}")
            look(child)

    root = ElementTree.fromstring(text)
    look(root)
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        for name, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            count = len(cases) if tag is None else sum(case.find(tag) is not None for case in cases)
            if suite.get(name) != str(count):
                problems.append(f"{name} is {suite.get(name)}, there are {count}")
    return problems


def _sarif_value(value, kind, place):
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{place} is no array"]
        return [problem for i, item in enumerate(value) for problem in _sarif_value(item, kind[0], f"{place}[{i}]")]
    if isinstance(kind, str):
        return _sarif_object(value, kind, place)
    return [] if type(value) is kind else [f"{place} is {value!r}"]


def _sarif_object(value, kind, place):
    if not isinstance(value, dict):
        return [f"{place} is no object"]
    members = SARIF[kind]
    problems = [f"{place} has no member {name}" for name in value if name not in members]
    problems += [f"{place} needs {name}" for name, (_, needed) in members.items() if needed and name not in value]
    for name, (inner, _) in members.items():
        if name in value:
            problems += _sarif_value(value[name], inner, f"{place}.{name}")
    return problems


def sarif_problems(text):
    log = json.loads(text)
    problems = _sarif_object(log, "log", "log")
    if problems:
        return problems
    if log["version"] != "2.1.0":
        problems.append(f"version {log['version']}")
    for run in log["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"].get("rules", [])]
        if len(set(rules)) != len(rules):
            problems.append("two rules have one id")
        for result in run["results"]:
            if result["level"] not in ("none", "note", "warning", "error"):
                problems.append(f"level {result['level']}")
            if rules[result["ruleIndex"]] != result["ruleId"]:
                problems.append(f"rule {result['ruleIndex']} is not {result['ruleId']}")
            for location in result["locations"]:
                physical = location["physicalLocation"]
                if not URI_REFERENCE.fullmatch(physical["artifactLocation"]["uri"]):
                    problems.append(f"no URI: {physical['artifactLocation']['uri']}")
                if physical["region"]["startLine"] < 1:
                    problems.append("a line before the first")
    return problems


def markdown_problems(text):
    problems = [] if len(text.encode()) <= 60_100 else ["longer than 60 kB"]
    for line in text.splitlines():
        if line.startswith("|") and line.count("|") != 4:
            problems.append(f"{line.count('|') - 1} cells: {line[:80]}")
        if re.search(r"<(?!br>)", line) or "@" in line:
            problems.append(f"not escaped: {line[:80]}")
    if any(ord(c) < 32 and c != "\n" for c in text):
        problems.append("control characters")
    return problems
