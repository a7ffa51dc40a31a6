"""The report as text: what a person without the machine reads first. report.json has the same and more."""

import textwrap

WIDTH = 110
ORDER = ("failed", "skipped", "passed")
MEANING = {"failed": "Not as expected. A check whose program fails without recording, too, is among those that were skipped.",
           "skipped": "Not tried, for the reason that is given: nothing is known about these.",
           "passed": "As expected."}


def summary(report):
    """One line: how many checks ended how."""
    counts = {status: sum(row["status"] == status for row in report["checks"]) for status in ORDER}
    said = ", ".join(f"{counts[status]} {status}" for status in reversed(ORDER))
    return f"{len(report['checks'])} checks: {said}; {report.get('seconds', 0):.0f} s"


def figure(value):
    """A figure of any kind in words: numbers short, lists and tables in brackets."""
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"
    if isinstance(value, dict):
        return "(" + figures(value) + ")" if value else "none"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(figure, value)) + "]" if value else "none"
    return str(value) or "none"


def figures(values):
    return ", ".join(f"{name} {figure(value)}" for name, value in values.items())


def paragraph(head, text):
    return textwrap.fill(f"{head:10} {text}", WIDTH, initial_indent="   ", subsequent_indent=" " * 14, break_on_hyphens=False)


def check_lines(row):
    lines = [f"{row['number']:2} {row['title']} ({row.get('seconds', 0):.1f} s)"]
    if row["status"] != "skipped":
        lines.append(paragraph("expected", row["expected"]))
    if row.get("reason"):
        lines.append(paragraph("skipped", row["reason"]))
    lines += [paragraph("differs", text) for text in row.get("failures", [])]
    if row.get("figures"):
        lines.append(paragraph("measured", figures(row["figures"])))
    return lines


def write(report):
    """The whole report: the machine, then what differs, what was not tried, and what is as expected."""
    lines = ["borescope record on a GPU", summary(report), ""]
    lines += [paragraph(name, figure(value)) for name, value in report["machine"].items()]
    if "kept" in report:
        lines.append(paragraph("kept", f"{report['kept']['file']}: {', '.join(report['kept']['recordings'])}"))
    for status in ORDER:
        rows = sorted((row for row in report["checks"] if row["status"] == status), key=lambda row: row["number"])
        if not rows:
            continue
        lines += ["", f"{status.upper()}. {MEANING[status]}"]
        for row in rows:
            lines += ["", *check_lines(row)]
    return "\n".join(lines) + "\n"
