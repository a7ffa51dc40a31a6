"""What is asked in SQL: the same quantities once more, by statements that a reader can check."""

import json

# name: statement. The names stand in place of "query", "query_2", ...
STATEMENTS = {
    "whole_steps": "SELECT rank, number, ts_ns AS begin_ns, end_ns FROM steps",
    "ends_of_steps": "SELECT rank, step, max(end_ns) AS end_ns FROM device_events"
                     " WHERE is_work = 1 AND step IS NOT NULL GROUP BY 1, 2",
    "early": "SELECT d.rank, sum(d.ts_ns < l.ts_ns) AS works FROM device_events d JOIN launches l"
             " ON l.rank = d.rank AND l.id = d.launch_id WHERE d.is_work = 1 GROUP BY 1",
    "host": "SELECT rank, count(*) AS events FROM host_events GROUP BY rank",
    "work": "SELECT rank, gpu, count(*) AS works, sum(dur_ns) AS total_ns,"
            " union_ns(ts_ns, end_ns) AS busy_ns, gaps_ns(ts_ns, end_ns) AS gap_ns,"
            " min(ts_ns) AS first_ns, min(CASE WHEN dur_ns > 0 THEN ts_ns END) AS busy_from_ns,"
            " max(end_ns) AS last_ns, max(CASE WHEN dur_ns > 0 THEN end_ns END) AS busy_to_ns"
            " FROM device_events WHERE is_work = 1 GROUP BY rank, gpu",
    "streams": "SELECT rank, gpu, stream, count(*) AS works, sum(dur_ns) AS total_ns,"
               " union_ns(ts_ns, end_ns) AS busy_ns, gaps_ns(ts_ns, end_ns) AS gap_ns"
               " FROM device_events WHERE is_work = 1 GROUP BY rank, gpu, stream",
    "activities": "SELECT rank, gpu, CASE WHEN kind <> 'kernel' OR class = 'copy' THEN 'copy'"
                  " WHEN class = 'collective' THEN 'comm' ELSE 'compute' END AS activity,"
                  " union_ns(ts_ns, end_ns) AS busy_ns, sum(dur_ns) AS total_ns, count(*) AS works"
                  " FROM device_events WHERE is_work = 1 GROUP BY 1, 2, 3",
    "classes": "SELECT class, count(*) AS works, sum(dur_ns) AS total_ns FROM kernels GROUP BY class",
    "names": "SELECT kind, name,"
             " count(*) AS works, sum(dur_ns) AS total_ns, min(dur_ns) AS min_ns, max(dur_ns) AS max_ns"
             " FROM device_events WHERE is_work = 1 GROUP BY 1, 2",
    "work_of_ops": "SELECT coalesce(o.name, c.name) AS op, count(*) AS works, sum(d.dur_ns) AS total_ns"
                   " FROM device_events d LEFT JOIN ops o ON o.rank = d.rank AND o.id = d.op_id"
                   " LEFT JOIN captured_ops c ON c.rank = d.rank AND c.id = d.op_id"
                   " WHERE d.is_work = 1 GROUP BY 1",
    "ops": "SELECT name, count(*) AS calls FROM ops GROUP BY name",
    "elsewhere": "SELECT count(*) AS works FROM device_events d JOIN launches l ON l.rank = d.rank"
                 " AND l.id = d.launch_id WHERE d.is_work = 1 AND d.op_id IS NOT l.op_id",
    "untied": "SELECT rank, sum(launch_id IS NULL) AS no_launch, sum(op_id IS NULL) AS no_op,"
              " sum(launch_id IS NOT NULL AND op_id IS NULL) AS launch_only,"
              " sum(launch_id IS NULL AND op_id IS NULL) AS untied,"
              " sum((launch_id IS NULL) * dur_ns) AS no_launch_ns,"
              " sum((op_id IS NULL) * dur_ns) AS no_op_ns,"
              " sum((launch_id IS NOT NULL AND op_id IS NULL) * dur_ns) AS launch_only_ns,"
              " sum(dur_ns) AS total_ns"
              " FROM device_events WHERE is_work = 1 GROUP BY rank",
    "rules": "SELECT l.rank, l.rule, count(*) AS works FROM links l JOIN device_events d"
             " ON d.rank = l.rank AND d.id = l.id WHERE d.is_work = 1 GROUP BY 1, 2",
    "copies": "SELECT rank, gpu, count(*) AS works, sum(bytes) AS bytes, sum(dur_ns) AS total_ns"
              " FROM copies GROUP BY 1, 2",
    "calls": "SELECT name, count(*) AS calls, sum(dur_ns) AS total_ns, min(dur_ns) AS min_ns,"
             " max(dur_ns) AS max_ns FROM launches WHERE domain IS NULL OR domain <> 'os'"
             " GROUP BY name",
    "annotations": "SELECT rank, side, name, count(*) AS annotations, sum(dur_ns) AS total_ns,"
                   " min(dur_ns) AS min_ns, max(dur_ns) AS max_ns FROM annotations GROUP BY 1, 2, 3",
    "steps": "SELECT rank, number, min(ts_ns) AS begin_ns FROM steps GROUP BY 1, 2",
    "step_work": "SELECT rank, step, count(*) AS works, sum(dur_ns) AS total_ns FROM device_events"
                 " WHERE is_work = 1 GROUP BY 1, 2",
    "step_kernels": "SELECT rank, step, count(*) AS works FROM kernels GROUP BY 1, 2",
    "tracks": "SELECT rank, kind, sum(events) AS events, sum(events > 0) AS tracks"
              " FROM tracks GROUP BY 1, 2",
    "events": "SELECT rank, side, count(*) AS events FROM events GROUP BY 1, 2",
    "device": "SELECT rank, count(*) AS events FROM device_events GROUP BY rank",
    "memory": "SELECT rank, count(*) AS events FROM memory_events GROUP BY rank",
    "diagnostics": "SELECT code, sum(count) AS cases FROM diagnostics GROUP BY code",
    "view_top": "SELECT * FROM top",
    "view_busy": "SELECT rank, gpuId, GpuTime FROM busy",
    "view_op": "SELECT rank, count(*) AS works, sum(end - start) AS total_ns FROM op GROUP BY rank",
}
SCRIPT = ";\n".join(STATEMENTS.values()) + ";\n"


def named(text):
    """The document, its tables named as here."""
    document = json.loads(text)
    assert len(document["tables"]) == len(STATEMENTS), "a statement has no answer"
    for table, name in zip(document["tables"], STATEMENTS):
        table["name"] = name
    return json.dumps(document)
