// Tables made of others. Those marked rpd are the views of rocmProfileData's .rpd files (schema
// version 3), with `rank` as one more column where rows belong to a rank.
#include "borescope/query/relations/relation.h"

namespace borescope::internal::query {
namespace {

constexpr ViewSpec kViews[] = {
    {"annotations", "Annotations of the host and their shadows on the device; side says which.",
     "SELECT rank, 'host' AS side, id, ts_ns, dur_ns, end_ns, name, pid, tid, "
     "NULL AS gpu, NULL AS stream, step FROM host_events WHERE kind = 'annotation' UNION ALL "
     "SELECT rank, 'device', id, ts_ns, dur_ns, end_ns, name, NULL, NULL, gpu, stream, step "
     "FROM device_events WHERE kind = 'annotation'"},
    {"top", "rpd: device time by name. Identical operations all count, unlike in rpd itself.",
     "SELECT name AS Name, count(*) AS TotalCalls, sum(dur_ns) / 1000 AS TotalDuration_us, "
     "(sum(dur_ns) / count(*)) / 1000.0 AS Ave_us, sum(dur_ns) * 100.0 / "
     "(SELECT sum(dur_ns) FROM device_events WHERE is_work = 1) AS Percentage "
     "FROM device_events WHERE is_work = 1 GROUP BY name ORDER BY sum(dur_ns) DESC, name"},
    {"busy",
     "rpd: summed device time (overlaps count twice) over the span of all devices of the rank.",
     "SELECT d.gpu AS gpuId, sum(d.dur_ns) AS GpuTime, w.wall AS WallTime, "
     "sum(d.dur_ns) * 1.0 / w.wall AS Busy, d.rank AS rank "
     "FROM device_events d JOIN (SELECT rank, max(end_ns) - min(ts_ns) AS wall "
     "FROM device_events WHERE is_work = 1 GROUP BY rank) w ON w.rank = d.rank "
     "WHERE d.is_work = 1 GROUP BY d.rank, d.gpu"},
    {"ktop",
     "rpd: host time of the launching calls by kernel name. Launches of whole graphs have none.",
     "WITH calls AS (SELECT k.name AS name, l.dur_ns AS dur_ns FROM kernels k JOIN launches l "
     "ON l.rank = k.rank AND l.id = k.launch_id WHERE l.device_events = 1) "
     "SELECT name AS Name, count(*) AS TotalCalls, sum(dur_ns) / 1000 AS TotalDuration, "
     "(sum(dur_ns) / count(*)) / 1000 AS Ave, sum(dur_ns) * 100.0 / "
     "(SELECT sum(dur_ns) FROM calls) AS Percentage "
     "FROM calls GROUP BY name ORDER BY sum(dur_ns) DESC, name"},
    {"api",
     "rpd: runtime calls, annotations as UserMarker with their text in args, and what the profiler "
     "itself did.",
     "SELECT id, pid, tid, ts_ns AS start, end_ns AS \"end\", ifnull(domain, '') AS domain, "
     "'' AS category, name AS apiName, ifnull(args, '') AS args, rank FROM launches UNION ALL "
     "SELECT id, pid, tid, ts_ns, end_ns, '', '', 'UserMarker', name, rank FROM host_events "
     "WHERE kind = 'annotation' UNION ALL "
     "SELECT id, pid, tid, ts_ns, end_ns, '', '', name, '', rank FROM host_events "
     "WHERE kind = 'other'"},
    {"op", "rpd: kernels, copies and memsets; only kernels have a description.",
     "SELECT id, gpu AS gpuId, stream AS queueId, 0 AS sequenceId, ts_ns AS start, "
     "end_ns AS \"end\", CASE kind WHEN 'kernel' THEN name ELSE '' END AS description, "
     "CASE kind WHEN 'kernel' THEN 'KernelExecution' ELSE name END AS opType, rank "
     "FROM device_events WHERE is_work = 1"},
    {"rpd_kernel", "rpd: its view kernel: kernels with the size of their launch.",
     "SELECT id, gpu AS gpuId, stream AS queueId, 0 AS sequenceId, ts_ns AS start, "
     "end_ns AS \"end\", dur_ns AS duration, ifnull(stream_handle, '') AS stream, "
     "grid_x AS gridX, grid_y AS gridY, grid_z AS gridZ, block_x AS workgroupX, "
     "block_y AS workgroupY, block_z AS workgroupZ, shared_bytes AS groupSegmentSize, "
     "private_bytes AS privateSegmentSize, name AS kernelName, rank FROM kernels"},
    {"rpd_copy", "rpd: its view copy: the calls behind copies, with host times.",
     "SELECT l.id AS id, l.pid AS pid, l.tid AS tid, l.ts_ns AS start, l.end_ns AS \"end\", "
     "l.name AS apiName, ifnull(c.stream_handle, '') AS stream, c.bytes AS size, "
     "c.width AS width, c.height AS height, c.call_kind AS kind, ifnull(c.target, '') AS dst, "
     "ifnull(c.source, '') AS src, c.target_device AS dstDevice, c.source_device AS srcDevice, "
     "c.is_sync AS sync, c.is_pinned AS pinned, c.rank AS rank "
     "FROM copies c JOIN launches l ON l.rank = c.rank AND l.id = c.launch_id "
     "WHERE c.kind = 'memcpy'"},
    {"copyop", "rpd: copies on the device, with what their calls say.",
     "SELECT c.id AS id, c.gpu AS gpuId, c.stream AS queueId, 0 AS sequenceId, "
     "c.ts_ns AS start, c.end_ns AS \"end\", c.dur_ns AS duration, "
     "ifnull(c.stream_handle, '') AS stream, c.bytes AS size, c.width AS width, "
     "c.height AS height, c.call_kind AS kind, ifnull(c.target, '') AS dst, "
     "ifnull(c.source, '') AS src, c.target_device AS dstDevice, c.source_device AS srcDevice, "
     "c.is_sync AS sync, c.is_pinned AS pinned, l.name AS apiName, c.rank AS rank "
     "FROM copies c JOIN launches l ON l.rank = c.rank AND l.id = c.launch_id "
     "WHERE c.kind = 'memcpy'"},
};

}  // namespace

std::span<const ViewSpec> Views() { return kViews; }

}  // namespace borescope::internal::query
