// Profiles of ONNX Runtime: sessions, the nodes of a model, calls and kernels of its execution
// providers, in a list whose times begin with the session.
#include <algorithm>
#include <array>
#include <string>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"
#include "borescope/ingest/chrome/chrome_document.h"
#include "borescope/ingest/chrome/chrome_trace.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"
#include "borescope/json/number.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

enum Key : size_t {
  kInputs,
  kStream,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kParent,
};
constexpr std::array<std::string_view, 9> kKeys = {"input_type_shape", "stream",  "grid_x",
                                                   "grid_y",           "grid_z",  "block_x",
                                                   "block_y",          "block_z", "parent_name"};

constexpr std::string_view kNodeEnd = "_kernel_time";

std::string_view NodeName(std::string_view name) {
  name.remove_suffix(name.ends_with(kNodeEnd) ? kNodeEnd.size() : 0);
  return name;
}

// "[{"float":[64,256]}]" as the lists of shapes and of types that operators have.
struct Inputs {
  std::string dims = "[";
  std::string types = "[";
};

Inputs ReadInputs(std::string_view text) {
  Inputs inputs;
  for (const std::string_view element : ElementsOf(text)) {
    JsonCursor cursor(element);
    std::string_view type;
    if (!cursor.EnterObject() || !cursor.NextMember(type)) {
      continue;
    }
    const bool is_first = inputs.dims.size() == 1;
    inputs.dims += is_first ? "[" : ", [";
    inputs.types += is_first ? "\"" : ", \"";
    inputs.types.append(type);
    inputs.types += '"';
    bool is_first_number = true;
    for (const std::string_view number : ElementsOf(cursor.Value())) {
      inputs.dims += is_first_number ? "" : ", ";
      inputs.dims.append(number);
      is_first_number = false;
    }
    inputs.dims += ']';
  }
  inputs.dims += ']';
  inputs.types += ']';
  return inputs;
}

class OnnxTrace {
 public:
  explicit OnnxTrace(ChromeRows& rows) : rows_(rows), trace_(rows.part()) {}

  void AddAll() {
    const std::string_view step = StepName();
    for (const ChromeRows::Row& row : rows_.rows()) {
      CheckStopAt(++seen_);
      if (row.phase != 'X') {
        continue;
      }
      const std::string_view category = rows_.Text(row.category);
      if (category == "Kernel") {
        AddKernel(row);
        continue;
      }
      const TrackId track = trace_.Thread(row.pid, row.tid, rows_.ThreadName(row.pid, row.tid));
      if (category == "Node") {
        AddNode(row, track);
      } else if (category == "Api") {
        const std::string_view name = rows_.Text(row.name);
        vendor_ = name.starts_with("hip") ? Vendor::kAmd : Vendor::kNvidia;
        trace_.AddHost(HostKind::kRuntime, row.name, track, row.ts_ns, row.dur_ns,
                       trace_.AddCall(kMissing));
      } else if (!step.empty() && rows_.Text(row.name) == step) {
        trace_.AddStep(steps_++, row, track);
      } else {
        trace_.AddHost(HostKind::kAnnotation, row.name, track, row.ts_ns, row.dur_ns);
      }
    }
  }

  Vendor vendor() const { return vendor_; }

 private:
  // One call of the session is a step. Older versions recorded only what runs in it.
  std::string_view StepName() const {
    constexpr std::string_view kCall = "model_run";
    constexpr std::string_view kExecution = "SequentialExecutor::Execute";
    const auto has = [&](std::string_view name) {
      return std::any_of(rows_.rows().begin(), rows_.rows().end(),
                         [&](const ChromeRows::Row& row) { return rows_.Text(row.name) == name; });
    };
    return has(kCall) ? kCall : has(kExecution) ? kExecution : std::string_view();
  }

  void AddNode(const ChromeRows::Row& row, TrackId track) {
    const std::string_view name = rows_.Text(row.name);
    if (!name.ends_with(kNodeEnd)) {  // fences
      trace_.AddHost(HostKind::kOther, row.name, track, row.ts_ns, row.dur_ns);
      return;
    }
    const StringId node = Text(std::string(NodeName(name)));
    const uint32_t detail = trace_.AddOperator(++last_id_);
    if (const std::string_view text = rows_.Arg(row, kInputs); !text.empty()) {
      const Inputs inputs = ReadInputs(text);
      rows_.part().data.ops.input_dims[detail] = Text(inputs.dims);
      rows_.part().data.ops.input_types[detail] = Text(inputs.types);
    }
    last_of_node_[node.value] = last_id_;
    trace_.AddHost(HostKind::kOp, node, track, row.ts_ns, row.dur_ns, detail);
  }

  // The device is not recorded, nor the launch. A kernel follows the node that it names.
  void AddKernel(const ChromeRows::Row& row) {
    ChromeTrace::DeviceRow work;
    const std::string_view name = rows_.Text(row.name);
    work.kind = name.starts_with("Memcpy")   ? DeviceKind::kMemcpy
                : name.starts_with("Memset") ? DeviceKind::kMemset
                                             : DeviceKind::kKernel;
    work.name = row.name;
    work.ts_ns = row.ts_ns;
    work.dur_ns = row.dur_ns;
    work.track = StreamOf(rows_.Arg(row, kStream));
    if (const std::string_view parent = rows_.Arg(row, kParent); !parent.empty()) {
      const auto node = last_of_node_.find(Text(std::string(NodeName(parent))).value);
      work.external_id = node == last_of_node_.end() ? kMissing : node->second;
    }
    if (work.kind == DeviceKind::kKernel) {
      Kernels& kernels = rows_.part().data.kernels;
      work.detail = AddMissingRow(kernels);
      kernels.grid_x[work.detail] = Size(row, kGridX);
      kernels.grid_y[work.detail] = Size(row, kGridY);
      kernels.grid_z[work.detail] = Size(row, kGridZ);
      kernels.block_x[work.detail] = Size(row, kBlockX);
      kernels.block_y[work.detail] = Size(row, kBlockY);
      kernels.block_z[work.detail] = Size(row, kBlockZ);
    } else {
      work.detail = trace_.AddCopy(0);
    }
    trace_.AddDevice(work);
  }

  // CUDA's streams have numbers; of ROCm's there are handles, which are numbered as they come.
  TrackId StreamOf(std::string_view text) {
    const ParsedNumber number = ParseInteger(text);
    if (number.status == NumberStatus::kOk) {
      return trace_.Stream(0, number.value, {});
    }
    const auto [stream, is_new] =
        handles_.try_emplace(Text(text).value, static_cast<int64_t>(handles_.size()));
    return trace_.Stream(0, stream->second, text);
  }

  int32_t Size(const ChromeRows::Row& row, size_t key) const {
    const int64_t size = rows_.Number(row, key).value_or(-1);
    return size >= 0 && size <= INT32_MAX ? static_cast<int32_t>(size) : -1;
  }

  StringId Text(std::string_view text) { return rows_.part().Intern(text); }

  ChromeRows& rows_;
  ChromeTrace trace_;
  HashMap<uint32_t, int64_t> last_of_node_;  // the id of a node's last run, by its name
  HashMap<uint32_t, int64_t> handles_;       // the number of a stream, by its handle
  int64_t steps_ = 0;
  int64_t last_id_ = 0;
  uint64_t seen_ = 0;
  Vendor vendor_ = Vendor::kUnknown;
};

}  // namespace

Result<Trace> LoadOnnxRuntimeTrace(TextReader& reader, const std::string& name,
                                   const LoadOptions& options) {
  ChromeRows rows(kKeys);
  return LoadChromeDocument(reader, name, options, rows, [&](Meta& meta) {
    OnnxTrace trace(rows);
    trace.AddAll();
    meta.format = TraceFormat::kOnnxRuntime;
    meta.remedy = OnnxRuntimeRemedy;
    meta.producer = "ONNX Runtime";
    meta.vendor = trace.vendor();
  });
}

}  // namespace borescope::internal
