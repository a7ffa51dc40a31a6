// Traces of torch.autograd.profiler before Kineto, and of its use without it: a list of operators
// ("CPU functions") and, to PyTorch 1.7, of their times on a device ("CUDA functions"), joined by
// arrows.
#include <algorithm>
#include <tuple>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
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
      const bool is_device = rows_.PidText(row.pid).starts_with("CUDA ");
      if (row.phase == 'X' && is_device) {
        AddWork(i);
      } else if (row.phase == 'X') {
        AddOperator(row);
      } else if (row.phase == 'f' && is_device) {
        arrow_ = i;
      }
    }
    AddDevices();
  }

 private:
  // Work on a device; the operator is the one before it in the list.
  struct Work {
    size_t row;
    int64_t operator_id = kMissing;
    bool is_range = false;  // of an operator with others inside
  };

  // The number of a process is not recorded, and 1 is written in its place.
  void AddOperator(const ChromeRows::Row& row) {
    const TrackId track = trace_.Thread(1, row.tid, {});
    operator_ = row.name;
    trace_.AddHost(HostKind::kOp, row.name, track, row.ts_ns, row.dur_ns,
                   trace_.AddOperator(++last_id_));
  }

  // An arrow ends where the work begins; its operator was listed last.
  void AddWork(size_t i) {
    const ChromeRows::Row& row = rows_.rows()[i];
    const bool has_arrow = arrow_ + 1 == i && rows_.rows()[arrow_].ts_ns == row.ts_ns;
    work_.push_back({i, has_arrow ? last_id_ : kMissing, false});
    is_named_as_operator_.push_back(has_arrow && row.name == operator_ ? 1 : 0);
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
      return std::tuple(row.tid, row.ts_ns, -row.dur_ns, i);
    };
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      const ChromeRows::Row& row = rows_.rows()[work_[order[i]].row];
      const ChromeRows::Row& next = rows_.rows()[work_[order[i + 1]].row];
      work_[order[i]].is_range = is_named_as_operator_[order[i]] != 0 && row.tid == next.tid &&
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
      device.external_id = work.operator_id;
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
  std::vector<char> is_named_as_operator_;  // by work
  StringId operator_;                       // the name of the last one
  size_t arrow_ = SIZE_MAX - 1;             // the last that ended on a device
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
