#include "tests/support/simulation/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "tests/support/simulation/draws.h"

namespace borescope::simulation {
namespace {

constexpr int64_t kPid = 1000;
constexpr std::string_view kDataTypes = "Half";

std::string_view CategoryOf(WorkKind kind) {
  constexpr std::string_view kNames[] = {"kernel", "gpu_memcpy", "gpu_memset"};
  return kNames[static_cast<size_t>(kind)];
}

class KinetoWriter {
 public:
  KinetoWriter(const SimulatedRun& run, int32_t rank)
      : run_(run), rank_(run.ranks[static_cast<size_t>(rank)]), number_(rank) {
    pid_ = kPid + rank;
    device_ = rank % 8;
    FindRecords();
  }

  std::string Write() {
    Header();
    for (const FrameRow& row : rank_.frames) Frame(row);
    size_t work = 0;
    for (size_t i = 0; i < rank_.calls.size(); ++i) {
      const CallRow& row = rank_.calls[i];
      if (run_.config.has_syncs) Sync(row);
      Call(row);
    }
    for (; work < rank_.works.size(); ++work) Device(rank_.works[work]);
    Metadata();
    text_ += "\n  ],\n  \"traceName\": \"/tmp/trace.json\"\n}\n";
    return std::move(text_);
  }

 private:
  const CallRow& CallOf(const WorkRow& row) const {
    return rank_.calls[static_cast<size_t>(row.call)];
  }

  // By event: the call that recorded it.
  void FindRecords() {
    records_.assign(static_cast<size_t>(run_.program.events), -1);
    for (size_t i = 0; i < rank_.calls.size(); ++i) {
      if (rank_.calls[i].action != Action::kRecord) continue;
      records_[static_cast<size_t>(rank_.calls[i].event)] = static_cast<int32_t>(i);
    }
  }

  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void AddUs(int64_t ns) {
    if (run_.config.has_whole_us) {
      Add("{}", ns / 1000);
    } else {
      Add("{}.{:03}", ns / 1000, ns % 1000);
    }
  }

  int64_t Written(int64_t ns) const {
    const int64_t from_base = kTraceBaseNs + ns;
    return run_.config.has_whole_us ? from_base - from_base % 1000 : from_base;
  }

  void Begin() {
    text_ += is_first_ ? "\n  {\n    " : ",\n  {\n    ";
    is_first_ = false;
  }

  void Interval(std::string_view category, std::string_view name, int64_t pid, int64_t tid,
                int64_t begin_ns, int64_t end_ns) {
    Begin();
    Add(R"("ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {},)", category, name, pid, tid);
    text_ += "\n    \"ts\": ";
    AddUs(Written(begin_ns));
    text_ += ", \"dur\": ";
    // Where a clock was set back in between, nothing is left of the time.
    AddUs(std::max<int64_t>(0, Written(end_ns) - Written(begin_ns)));
    text_ += ",\n    \"args\": {\n      ";
  }

  void End() { text_ += "\n    }\n  }"; }

  void Flow(std::string_view phase, int64_t id, int64_t pid, int64_t tid, int64_t ns) {
    if (!run_.config.has_flows) return;
    Begin();
    Add(R"("ph": "{}", "id": {}, "pid": {}, "tid": {}, "ts": )", phase, id, pid, tid);
    AddUs(Written(ns));
    text_ += ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"";
    text_ += phase == "f" ? ", \"bp\": \"e\"\n  }" : "\n  }";
  }

  int64_t TidOf(int32_t thread) const { return pid_ + thread; }
  int64_t HostNs(int64_t ns) const { return HostTime(rank_.clock, ns); }
  int64_t DeviceNs(int64_t ns) const { return DeviceTime(rank_.clock, ns); }
  bool IsRecorded(int32_t thread) const {
    return run_.program.threads[static_cast<size_t>(thread)].is_recorded;
  }

  void Header() {
    Add("{{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
    for (int id = 0; id < 8; ++id) {
      Add("{}\n    {{\n      \"id\": {}, \"name\": \"NVIDIA A100-SXM4-80GB\", \"totalGlobalMem\": "
          "84974239744,\n      \"computeMajor\": 8, \"computeMinor\": 0,\n      "
          "\"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n      "
          "\"regsPerBlock\": 65536, \"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, "
          "\"numSms\": 108\n    }}",
          id == 0 ? "" : ",", id);
    }
    text_ += "\n  ],\n";
    if (run_.program.ranks > 1) Groups();
    if (run_.config.has_shapes) text_ += "  \"record_shapes\": 1,\n";
    text_ += "  \"cupti_version\": 24,\n  \"cuda_runtime_version\": 12060,\n";
    text_ += "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": 1700000000000000000,\n";
    text_ += "  \"traceEvents\": [";
  }

  std::string RankListOf(const std::vector<int32_t>& ranks) const {
    return fmt::format("[{}]", fmt::join(ranks, ", "));
  }

  const std::vector<int32_t>& GroupOf(size_t partition) const {
    for (const std::vector<int32_t>& group : run_.program.partitions[partition]) {
      for (const int32_t rank : group) {
        if (rank == number_) return group;
      }
    }
    return run_.program.partitions[partition].front();
  }

  // Groups of one partition have the same name on their own ranks, as those of PyTorch do not:
  // there each has a number. Here it is made of the partition and the first rank.
  std::string GroupName(size_t partition) const {
    return fmt::format(
        "{}", partition == 0 ? 0 : partition * 1000 + static_cast<size_t>(GroupOf(partition)[0]));
  }

  void Groups() {
    Add("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}, "
        "\"pg_count\": {}, \"pg_config\": [",
        number_, run_.program.ranks, run_.program.partitions.size());
    for (size_t i = 0; i < run_.program.partitions.size(); ++i) {
      const std::vector<int32_t>& group = GroupOf(i);
      Add(R"({}{{"pg_name": "{}", "pg_desc": "{}", "backend_config": "cuda:nccl", "pg_size": {}, )"
          R"("ranks": {}}})",
          i == 0 ? "" : ", ", GroupName(i), i == 0 ? "default_pg" : "undefined", group.size(),
          RankListOf(group));
    }
    text_ += "], \"nccl_version\": \"2.21.5\"},\n";
  }

  void Frame(const FrameRow& row) {
    if (!IsRecorded(row.thread)) return;
    const bool is_op = row.kind == FrameKind::kOp;
    Interval(is_op ? "cpu_op" : "user_annotation", run_.program.Name(row.name), pid_,
             TidOf(row.thread), HostNs(row.begin_ns), HostNs(row.end_ns));
    Add(R"("External id": {}, "Record function id": 0, )", row.id);
    if (run_.config.has_shapes) Shapes(row);
    if (row.collective >= 0) {
      Describe(row.collective);
      text_ += ", ";
    }
    Add("\"Ev Idx\": {}", row.id - 1);
    End();
  }

  void Shapes(const FrameRow& row) {
    if (row.rows == 0) return;
    if (run_.program.Name(row.name) == "aten::addmm") {
      Add(R"("Input type": ["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"], )"
          R"("Input Dims": [[1024], [{}, 1024], [1024, 1024], [], []], )",
          row.rows);
    } else {
      Add(R"("Input type": ["c10::Half", "c10::Half"], "Input Dims": [[{}, 1024], [1024, 1024]], )",
          row.rows);
    }
  }

  // Whether this is one of so many that the file says nothing, or something wrong of.
  bool IsDrawn(Draw draw, double share, int64_t number) const {
    if (share <= 0) return false;
    return Uniform({.seed = run_.config.seed,
                    .run = run_.config.run,
                    .draw = draw,
                    .rank = number_,
                    .item = static_cast<int32_t>(number)}) < share;
  }

  bool IsUnlinked(const CallRow& row) const {
    return row.action == Action::kLaunch &&
           IsDrawn(Draw::kUnlinked, run_.config.unlinked_share, row.correlation);
  }

  void Call(const CallRow& row) {
    if (!IsRecorded(row.thread) || IsUnlinked(row)) return;
    Interval("cuda_runtime", run_.program.Name(row.name), pid_, TidOf(row.thread),
             HostNs(row.begin_ns), HostNs(row.end_ns));
    if (row.op_id != 0) Add("\"External id\": {}, ", row.op_id);
    Add(R"("cbid": {}, "correlation": {})", CallNumber(row.action), row.correlation);
    End();
    if (row.action == Action::kLaunch) {
      Flow("s", row.correlation, pid_, TidOf(row.thread), HostNs(row.begin_ns));
    }
  }

  static int CallNumber(Action action) {
    switch (action) {
      case Action::kWaitStream:
        return 131;
      case Action::kWaitDevice:
        return 165;
      case Action::kWaitEvent:
        return 137;
      case Action::kRecord:
        return 135;
      case Action::kStreamWait:
        return 147;
      default:
        return 211;
    }
  }

  void Device(const WorkRow& row) {
    const Work& work = run_.program.works[static_cast<size_t>(row.work)];
    const CallRow& call = CallOf(row);
    const int64_t stream = run_.program.streams[static_cast<size_t>(work.stream)].id;
    const bool is_kernel = work.kind == WorkKind::kKernel;
    const bool is_shifted = IsDrawn(Draw::kShifted, run_.config.shifted_share, call.correlation);
    const int64_t later_ns = is_shifted ? run_.config.shifted_ns : 0;
    Interval(CategoryOf(work.kind), run_.program.Name(work.name), device_, stream,
             DeviceNs(row.begin_ns) + later_ns, DeviceNs(row.end_ns) + later_ns);
    if (call.op_id != 0 && !IsUnlinked(call)) Add("\"External id\": {}, ", call.op_id);
    if (is_kernel) text_ += "\"queued\": 0, ";
    Add(R"("device": {}, "context": 1, "stream": {}, "correlation": {})", device_, stream,
        call.correlation);
    if (is_kernel) {
      Kernel(work);
    } else {
      Copy(row, work);
    }
    End();
    if (!IsUnlinked(call)) {
      Flow("f", call.correlation, device_, stream, DeviceNs(row.begin_ns) + later_ns);
    }
  }

  void Kernel(const Work& work) {
    text_ +=
        ",\n      \"registers per thread\": 64, \"shared memory\": 16384, \"blocks per SM\": "
        "4.740741, \"warps per SM\": 18.962963, \"grid\": [512, 1, 1], \"block\": [128, 1, 1], "
        "\"est. achieved occupancy %\": 30";
    if (work.collective < 0) return;
    text_ += ", ";
    Describe(work.collective);
  }

  void Describe(int32_t of) {
    const Collective& collective = run_.program.collectives[static_cast<size_t>(of)];
    const size_t partition = static_cast<size_t>(collective.partition);
    const std::vector<int32_t>& group = GroupOf(partition);
    Add(R"("Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "Group size": {}, )"
        R"("dtype": "{}", "In split size": "[]", "Out split size": "[]", )"
        R"("Process Group Name": "{}", "Process Group Description": "{}", )"
        R"("Process Group Ranks": "{}", "Seq": {})",
        collective.name, collective.bytes / 2, collective.bytes / 2, group.size(), kDataTypes,
        GroupName(partition), partition == 0 ? "default_pg" : "undefined", RankListOf(group),
        collective.sequence);
  }

  void Copy(const WorkRow& row, const Work& work) {
    const auto ns = static_cast<double>(std::max<int64_t>(1, row.end_ns - row.begin_ns));
    Add(R"x(, "bytes": {}, "memory bandwidth (GB/s)": {:.6f})x", work.bytes,
        static_cast<double>(work.bytes) / ns);
  }

  void Sync(const CallRow& row) {
    if (row.action == Action::kRecord || row.action == Action::kLaunch) return;
    constexpr std::string_view kNames[] = {"Stream Sync", "Context Sync", "Event Sync", "",
                                           "Stream Wait Event"};
    const size_t name = static_cast<size_t>(row.action) - static_cast<size_t>(Action::kWaitStream);
    const bool on_event = row.action == Action::kWaitEvent || row.action == Action::kStreamWait;
    const bool on_stream = row.action == Action::kWaitStream || row.action == Action::kStreamWait;
    const int64_t stream =
        on_stream ? run_.program.streams[static_cast<size_t>(row.stream)].id : -1;
    Interval("cuda_sync", kNames[name], device_, stream, HostNs(row.begin_ns), HostNs(row.end_ns));
    if (row.op_id != 0) Add("\"External id\": {}, ", row.op_id);
    Add("\"cuda_sync_kind\": \"{}\", ", kNames[name]);
    if (on_event) {
      const int32_t record = records_[static_cast<size_t>(row.event)];
      const CallRow& recorded = rank_.calls[static_cast<size_t>(record)];
      Add(R"("wait_on_stream": {}, "wait_on_cuda_event_record_corr_id": {}, )"
          R"("wait_on_cuda_event_id": {}, )",
          run_.program.streams[static_cast<size_t>(recorded.stream)].id, recorded.correlation,
          row.event);
    }
    Add(R"("stream": {}, "correlation": {}, "device": {}, "context": 1)", stream, row.correlation,
        device_);
    End();
  }

  void Name(std::string_view what, std::string_view key, int64_t pid, int64_t tid,
            std::string_view value) {
    Begin();
    Add(R"("name": "{}", "ph": "M", "ts": )", what);
    AddUs(kTraceBaseNs);
    Add(R"(, "pid": {}, "tid": {},)", pid, tid);
    Add("\n    \"args\": {{\n      \"{}\": \"{}\"\n    }}\n  }}", key, value);
  }

  void Metadata() {
    Name("process_name", "name", pid_, 0, "python");
    Name("process_labels", "labels", pid_, 0, "CPU");
    Name("process_name", "name", device_, 0, "python");
    Name("process_labels", "labels", device_, 0, fmt::format("GPU {}", device_));
    for (const Stream& stream : run_.program.streams) {
      Name("thread_name", "name", device_, stream.id, fmt::format("stream {}", stream.id));
    }
    for (size_t i = 0; i < run_.program.threads.size(); ++i) {
      if (!run_.program.threads[i].is_recorded) continue;
      const int64_t tid = TidOf(static_cast<int32_t>(i));
      Name("thread_name", "name", pid_, tid,
           fmt::format("thread {} ({})", tid, run_.program.threads[i].name));
    }
  }

  const SimulatedRun& run_;
  const RankRun& rank_;
  int32_t number_;
  int64_t pid_ = 0;
  int64_t device_ = 0;
  std::vector<int32_t> records_;
  std::string text_;
  bool is_first_ = true;
};

}  // namespace

int64_t HostTime(const RankClock& clock, int64_t ns) {
  const int64_t drift = std::llround(static_cast<double>(ns) * clock.drift_ppm * 1e-6);
  const bool has_jumped = clock.jump_ns != 0 && ns >= clock.jump_at_ns;
  return ns + clock.offset_ns + drift + (has_jumped ? clock.jump_ns : 0);
}

int64_t DeviceTime(const RankClock& clock, int64_t ns) {
  return HostTime(clock, ns) + clock.device_ns;
}

std::string KinetoText(const SimulatedRun& run, int32_t rank) {
  return KinetoWriter(run, rank).Write();
}

}  // namespace borescope::simulation
