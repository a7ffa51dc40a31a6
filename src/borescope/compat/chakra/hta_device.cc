#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/compat/chakra/hta_build.h"

namespace borescope::internal::chakra::compat {
namespace {

// A launch with the work it started.
struct Launch {
  const HtaRow* call = nullptr;
  const HtaRow* work = nullptr;
};

class DeviceBuilder {
 public:
  DeviceBuilder(const HtaTable& table, HtaGraph& graph) : table_(table), graph_(graph) {}

  std::string Run() {
    FindLaunches();
    if (launches_.empty()) {
      return "it holds no launch that HTA knows, at which the reference ends with an error";
    }
    CountQueues();
    FindRecords();
    for (const HtaRow* row : RowsInOrder()) {
      const bool is_good = row->category == "cuda_sync" ? AddWait(*row) : AddWork(*row);
      if (!is_good) {
        return "a wait or kernel of the first step belongs to a call outside of it, at which the "
               "reference ends with an error";
      }
    }
    return {};
  }

 private:
  using Line = std::pair<int64_t, int64_t>;                // GPU, stream
  using CallLine = std::tuple<int64_t, int64_t, int64_t>;  // process, thread, stream

  // ---- Tables ----

  void FindLaunches() {
    for (const HtaRow& row : table_.rows) {
      const HtaRow* const work = IsHtaLaunch(row) ? table_.Find(row.partner) : nullptr;
      if (work != nullptr) {
        launches_.push_back({&row, work});
      }
    }
    std::stable_sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
      return a.call->begin < b.call->begin;
    });
    for (const Launch& launch : launches_) {
      by_stream_[{launch.work->pid, launch.work->stream}].push_back(launch);
      by_thread_[{launch.call->pid, launch.call->tid, launch.work->stream}].push_back(launch);
    }
  }

  // How many launches of a stream were under way, itself included, as each call or work began.
  void CountQueues() {
    struct Change {
      const HtaRow* row = nullptr;
      int64_t stream = 0;
      int64_t by = 0;
    };
    std::vector<Change> changes;
    changes.reserve(launches_.size() * 2);
    for (const Launch& launch : launches_) {
      changes.push_back({launch.call, launch.work->stream, 1});
      changes.push_back({launch.work, launch.work->stream, -1});
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.row->begin < b.row->begin; });
    HashMap<int64_t, int64_t> length;
    for (const Change& change : changes) {
      queue_[change.row->event] = length[change.stream] += change.by;
    }
  }

  // The work before each recorded event that somebody waits for.
  void FindRecords() {
    HashMap<int64_t, Line> waited_for;  // by correlation of the recording call
    for (const HtaRow& row : table_.rows) {
      if (row.category == "cuda_sync" && row.wait_on_stream > kNone) {
        waited_for[row.wait_on_record_correlation] = {row.pid, row.wait_on_stream};
      }
    }
    for (const HtaRow& row : table_.rows) {
      const auto line =
          row.name == "cudaEventRecord" ? waited_for.find(row.correlation) : waited_for.end();
      if (line == waited_for.end()) {
        continue;
      }
      const std::vector<Launch>& launches = by_stream_[line->second];
      const auto end = std::partition_point(
          launches.begin(), launches.end(),
          [&](const Launch& launch) { return launch.call->begin < row.begin; });
      if (end != launches.begin()) {
        work_before_[row.correlation] = std::prev(end)->work;
      }
    }
  }

  // The first work that the thread gave to the stream behind the call.
  const HtaRow* NextWork(const HtaRow& call, int64_t stream) const {
    const auto found = by_thread_.find({call.pid, call.tid, stream});
    if (found == by_thread_.end()) {
      return nullptr;
    }
    const auto next =
        std::partition_point(found->second.begin(), found->second.end(),
                             [&](const Launch& launch) { return launch.call->begin < call.begin; });
    return next == found->second.end() ? nullptr : next->work;
  }

  const HtaRow* WorkBefore(const HtaRow& wait) const {
    const auto found = work_before_.find(wait.wait_on_record_correlation);
    return found == work_before_.end() ? nullptr : found->second;
  }

  // By begin, waits by their end.
  std::vector<const HtaRow*> RowsInOrder() const {
    std::vector<const HtaRow*> rows;
    for (const size_t i : table_.clipped) {
      const HtaRow& row = table_.rows[i];
      if ((row.stream != kNone || WaitsWithoutStream(row)) && row.partner >= 0) {
        rows.push_back(&row);
      }
    }
    const auto key = [](const HtaRow* row) {
      return row->category == "cuda_sync" ? row->end() : row->begin;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const HtaRow* a, const HtaRow* b) { return key(a) < key(b); });
    return rows;
  }

  // ---- Edges ----

  bool AddWait(const HtaRow& row) {
    if (row.name == "Stream Wait Event") {
      const HtaRow* const call = table_.Find(row.partner);
      const HtaRow* const next = call == nullptr ? nullptr : NextWork(*call, row.stream);
      const HtaRow* const before = WorkBefore(row);
      if (next != nullptr && before != nullptr) {
        source_of_[next->event] = before->event;
      }
      return true;
    }
    if (row.name == "Event Sync") {
      const HtaRow* const before = WorkBefore(row);
      const HtaGraph::Ends* const source = before == nullptr ? nullptr : graph_.Find(before->event);
      return source == nullptr || AddHostWait(source->end, row);
    }
    if (row.name == "Context Sync") {
      return std::all_of(last_.begin(), last_.end(),
                         [&](const auto& entry) { return AddHostWait(entry.second, row); });
    }
    const auto last = std::find_if(last_.begin(), last_.end(),
                                   [&](const auto& entry) { return entry.first == row.stream; });
    return row.name != "Stream Sync" || last == last_.end() || AddHostWait(last->second, row);
  }

  bool AddHostWait(uint32_t source, const HtaRow& row) {
    const HtaGraph::Ends* const call = graph_.Find(row.partner);
    if (call != nullptr) {
      graph_.AddSync(source, call->end);
    }
    return call != nullptr;
  }

  bool AddWork(const HtaRow& row) {
    const HtaGraph::Ends own = graph_.AddEvent(row.event, row.begin, row.end());
    graph_.AddSpan(own.begin, own.end);
    const auto scheduled = source_of_.find(row.event);
    const HtaGraph::Ends* const source =
        scheduled == source_of_.end() ? nullptr : graph_.Find(scheduled->second);
    std::optional<int64_t> source_end;
    if (source != nullptr) {
      graph_.AddSync(source->end, own.begin);
      source_end = graph_.node(source->end).time;
    }
    const bool is_good = AddDelay(row, own.begin, source_end);
    SetLast(row.stream, own.end);
    return is_good;
  }

  // What the work waited for if for no other stream: its launch, or the work before it.
  bool AddDelay(const HtaRow& row, uint32_t begin, std::optional<int64_t> source_end) {
    const auto last = std::find_if(last_.begin(), last_.end(),
                                   [&](const auto& entry) { return entry.first == row.stream; });
    const auto last_end =
        last == last_.end() ? std::optional<int64_t>() : graph_.node(last->second).time;
    const HtaRow* const call = table_.Find(row.partner);
    const auto is_before = [](std::optional<int64_t> time, int64_t limit) {
      return !time.has_value() || *time < limit;
    };
    if (call != nullptr && QueueAt(call->event) == 1 && QueueAt(row.event) == 0 &&
        is_before(last_end, call->begin) && is_before(source_end, call->begin)) {
      const HtaGraph::Ends* const launch = graph_.Find(call->event);
      if (launch != nullptr) {
        graph_.AddSpan(launch->begin, begin);
      }
      return launch != nullptr;
    }
    if (last_end.has_value() && is_before(source_end, *last_end)) {
      graph_.AddSpan(last->second, begin);
    }
    return true;
  }

  int64_t QueueAt(uint32_t event) const {
    const auto found = queue_.find(event);
    return found == queue_.end() ? kNone : found->second;
  }

  void SetLast(int64_t stream, uint32_t node) {
    const auto last = std::find_if(last_.begin(), last_.end(),
                                   [&](const auto& entry) { return entry.first == stream; });
    if (last == last_.end()) {
      last_.emplace_back(stream, node);
    } else {
      last->second = node;
    }
  }

  const HtaTable& table_;
  HtaGraph& graph_;
  std::vector<Launch> launches_;  // by begin
  std::map<Line, std::vector<Launch>> by_stream_;
  std::map<CallLine, std::vector<Launch>> by_thread_;
  HashMap<uint32_t, int64_t> queue_;                // by event
  HashMap<int64_t, const HtaRow*> work_before_;     // by correlation of the record
  HashMap<uint32_t, uint32_t> source_of_;           // events: work -> what it waits for
  std::vector<std::pair<int64_t, uint32_t>> last_;  // per stream as they appear: its end
};

}  // namespace

std::string AddDeviceEvents(const HtaTable& table, HtaGraph& graph) {
  return DeviceBuilder(table, graph).Run();
}

}  // namespace borescope::internal::chakra::compat
