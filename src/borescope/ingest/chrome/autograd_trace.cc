// Traces of torch.autograd.profiler before Kineto, and of its use without it: a list of operators
// ("CPU functions") and, to PyTorch 1.7, of their times on a device ("CUDA functions"), joined by
// arrows.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/ingest/chrome/chrome_document.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

class AutogradTrace {
 public:
  explicit AutogradTrace(ChromeRows& rows) : rows_(rows), trace_(rows.part()) {}

  void AddAll() {
    const std::vector<ChromeRows::Row>& rows = rows_.rows();
    for (const size_t i : EachIndex(rows.size())) {
      const ChromeRows::Row& row = rows[i];
      if (row.phase == 'X' && !IsOfDevice(row)) {
        AddOperator(row);
      }
    }
    FindArrows();
    for (const size_t i : EachIndex(rows.size())) {
      if (rows[i].phase == 'X' && IsOfDevice(rows[i])) {
        AddWork(i);
      }
    }
    AddDevices();
  }

 private:
  struct Operator {
    int64_t id = kMissing;
    int64_t dur_ns = 0;
    StringId name;
  };
  struct Work {
    size_t row;
    Operator caller;
    bool is_range = false;  // of an operator with others inside
  };
  // Where an event is: an end of an arrow has the place of the event that it touches.
  using Place = std::tuple<int64_t, int64_t, uint32_t>;  // thread or device, time, name

  static Place PlaceOf(const ChromeRows::Row& row) { return {row.tid, row.ts_ns, row.name.value}; }
  bool IsOfDevice(const ChromeRows::Row& row) const {
    return rows_.PidText(row.pid).starts_with("CUDA ");
  }

  // The number of a process is not recorded, and 1 is written in its place. Of operators at one
  // place the shortest is the innermost.
  void AddOperator(const ChromeRows::Row& row) {
    const TrackId track = trace_.Thread(1, row.tid, {});
    const auto [at, is_new] = operators_.try_emplace(PlaceOf(row));
    ++last_id_;
    if (is_new || row.dur_ns < at->second.dur_ns) {
      at->second = {last_id_, row.dur_ns, row.name};
    }
    trace_.AddHost(HostKind::kOp, row.name, track, row.ts_ns, row.dur_ns,
                   trace_.AddOperator(last_id_));
  }

  // An arrow goes from an operator to its work, wherever they are in the list. Where arrows share a
  // number, the last one that began before an end in the list has it.
  void FindArrows() {
    std::map<uint32_t, Operator> from;  // by the arrow's number
    std::vector<const ChromeRows::Row*> early;
    const auto end = [&](const ChromeRows::Row& row) {
      const auto found = from.find(row.id.value);
      if (found != from.end()) {
        callers_[PlaceOf(row)] = found->second;
      }
      return found != from.end();
    };
    for (const ChromeRows::Row& row : rows_.rows()) {
      if (row.phase == 's' && !IsOfDevice(row)) {
        const auto found = operators_.find(PlaceOf(row));
        from[row.id.value] = found == operators_.end() ? Operator() : found->second;
      } else if (row.phase == 'f' && IsOfDevice(row) && !end(row)) {
        early.push_back(&row);
      }
    }
    for (const ChromeRows::Row* const row : early) {
      end(*row);
    }
  }

  void AddWork(size_t i) {
    const auto found = callers_.find(PlaceOf(rows_.rows()[i]));
    work_.push_back({i, found == callers_.end() ? Operator() : found->second, false});
  }

  // The device was timed by events around each operator, which contain those of the operators that
  // it called: only what contains nothing is work. Kernels have names of their own.
  void FindRanges() {
    std::vector<uint32_t> order(work_.size());
    for (uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    const auto place = [&](uint32_t i) {
      const ChromeRows::Row& row = rows_.rows()[work_[i].row];
      return std::tuple(row.tid, row.ts_ns, -row.dur_ns, -work_[i].caller.dur_ns, i);
    };
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      const ChromeRows::Row& row = rows_.rows()[work_[order[i]].row];
      const ChromeRows::Row& next = rows_.rows()[work_[order[i + 1]].row];
      const Operator& caller = work_[order[i]].caller;
      const bool is_named_as_operator = caller.id != kMissing && caller.name == row.name;
      work_[order[i]].is_range = is_named_as_operator && row.tid == next.tid &&
                                 next.ts_ns + next.dur_ns <= row.ts_ns + row.dur_ns &&
                                 next.dur_ns > 0;
    }
  }

  void AddDevices() {
    FindRanges();
    for (const Work& work : work_) {
      const ChromeRows::Row& row = rows_.rows()[work.row];
      const std::string_view name = rows_.Text(row.name);
      ChromeTrace::DeviceRow device;
      device.kind = work.is_range                ? DeviceKind::kAnnotation
                    : name.starts_with("Memcpy") ? DeviceKind::kMemcpy
                    : name.starts_with("Memset") ? DeviceKind::kMemset
                                                 : DeviceKind::kKernel;
      device.name = row.name;
      device.ts_ns = row.ts_ns;
      device.dur_ns = row.dur_ns;
      device.external_id = work.caller.id;
      device.track = trace_.Stream(row.tid, 0, "stream not recorded");
      if (device.kind == DeviceKind::kKernel) {
        device.detail = AddMissingRow(rows_.part().data.kernels);
      } else if (IsDeviceWork(device.kind)) {
        device.detail = trace_.AddCopy(0);
      }
      trace_.AddDevice(device);
    }
  }

  ChromeRows& rows_;
  ChromeTrace trace_;
  std::vector<Work> work_;
  std::map<Place, Operator> operators_;
  std::map<Place, Operator> callers_;  // of work
  int64_t last_id_ = 0;
};

}  // namespace

Result<Trace> LoadAutogradTrace(TextReader& reader, const std::string& name,
                                const LoadOptions& options) {
  ChromeRows rows({});
  return LoadChromeDocument(reader, name, options, rows, [&](Meta& meta) {
    AutogradTrace trace(rows);
    trace.AddAll();
    meta.format = TraceFormat::kAutograd;
    meta.remedy = AutogradRemedy;
    meta.producer = "PyTorch autograd profiler (before Kineto)";
  });
}

}  // namespace borescope::internal
