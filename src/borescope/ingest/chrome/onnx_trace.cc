// Profiles of ONNX Runtime: sessions, the nodes of a model, calls and kernels of its execution
// providers, in a list whose times begin with the session.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "borescope/base/each_row.h"
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

struct OnnxKey {
  enum : size_t {
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
};
constexpr std::array<std::string_view, 9> kOnnxKeys = {
    "input_type_shape", "stream",  "grid_x",  "grid_y",     "grid_z",
    "block_x",          "block_y", "block_z", "parent_name"};

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

  // In the order of time, whatever that of the file is.
  void AddAll() {
    const std::string_view step = StepName();
    std::vector<const ChromeRows::Row*> kernels;
    for (const ChromeRows::Row* const each : InOrderOfTime()) {
      CheckStopAt(++seen_);
      const ChromeRows::Row& row = *each;
      const std::string_view category = rows_.Text(row.category);
      if (category == "Kernel") {
        kernels.push_back(each);
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
    const std::vector<int64_t> nodes = NodesOf(kernels);
    for (const size_t i : EachIndex(kernels.size())) {
      AddKernel(*kernels[i], nodes[i]);
    }
  }

  Vendor vendor() const { return vendor_; }

 private:
  // The runs of a node and the kernels that name it, by their begin.
  struct Node {
    struct Run {
      int64_t ts_ns;
      int64_t id;
    };
    std::vector<Run> runs;
    std::vector<size_t> kernels;
  };

  // Rows of equal times keep no order of the file either: an outer one is first.
  std::vector<const ChromeRows::Row*> InOrderOfTime() const {
    std::vector<const ChromeRows::Row*> order;
    for (const ChromeRows::Row& row : rows_.rows()) {
      if (row.phase == 'X') {
        order.push_back(&row);
      }
    }
    const auto key = [&](const ChromeRows::Row* row) {
      return std::tuple(row->ts_ns, -row->dur_ns, row->pid, row->tid, rows_.Text(row->category),
                        rows_.Text(row->name), rows_.Arg(*row, OnnxKey::kStream));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto* a, const auto* b) { return key(a) < key(b); });
    return order;
  }

  // The id of the run of a node that started each kernel. A kernel names its node, and a device
  // that is late runs it after the next run of the node began: so the runs share the kernels
  // equally, in their order, if they can; else a kernel is of the last run that began before it.
  std::vector<int64_t> NodesOf(const std::vector<const ChromeRows::Row*>& kernels) {
    std::vector<int64_t> ids(kernels.size(), kMissing);
    for (const size_t i : EachIndex(kernels.size())) {
      const std::string_view parent = rows_.Arg(*kernels[i], OnnxKey::kParent);
      const auto node = node_of_.find(Text(NodeName(parent)).value);
      if (!parent.empty() && node != node_of_.end()) {
        nodes_[node->second].kernels.push_back(i);
      }
    }
    for (const Node& node : nodes_) {
      const size_t each = node.kernels.size() / node.runs.size();
      const auto starts_after = [&](size_t at) {
        return kernels[node.kernels[at]]->ts_ns >= node.runs[at / each].ts_ns;
      };
      bool is_even = each * node.runs.size() == node.kernels.size();
      for (size_t at = 0; at < node.kernels.size() && is_even; ++at) {
        is_even = starts_after(at);
      }
      for (size_t at = 0; at < node.kernels.size(); ++at) {
        const size_t kernel = node.kernels[at];
        ids[kernel] =
            is_even ? node.runs[at / each].id : LastRunBefore(node, kernels[kernel]->ts_ns);
      }
    }
    return ids;
  }

  // The first one where none began before.
  static int64_t LastRunBefore(const Node& node, int64_t ts_ns) {
    const auto next =
        std::partition_point(node.runs.begin(), node.runs.end(),
                             [=](const Node::Run& run) { return run.ts_ns <= ts_ns; });
    return (next == node.runs.begin() ? next : next - 1)->id;
  }

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
    if (const std::string_view text = rows_.Arg(row, OnnxKey::kInputs); !text.empty()) {
      const Inputs inputs = ReadInputs(text);
      rows_.part().data.ops.input_dims[detail] = Text(inputs.dims);
      rows_.part().data.ops.input_types[detail] = Text(inputs.types);
    }
    const auto [place, is_new] = node_of_.try_emplace(node.value, nodes_.size());
    if (is_new) {
      nodes_.emplace_back();
    }
    nodes_[place->second].runs.push_back({row.ts_ns, last_id_});
    trace_.AddHost(HostKind::kOp, node, track, row.ts_ns, row.dur_ns, detail);
  }

  // The device is not recorded, nor the launch.
  void AddKernel(const ChromeRows::Row& row, int64_t node) {
    ChromeTrace::DeviceRow work;
    const std::string_view name = rows_.Text(row.name);
    work.kind = name.starts_with("Memcpy")   ? DeviceKind::kMemcpy
                : name.starts_with("Memset") ? DeviceKind::kMemset
                                             : DeviceKind::kKernel;
    work.name = row.name;
    work.ts_ns = row.ts_ns;
    work.dur_ns = row.dur_ns;
    work.track = StreamOf(rows_.Arg(row, OnnxKey::kStream));
    work.external_id = node;
    if (work.kind == DeviceKind::kKernel) {
      Kernels& kernels = rows_.part().data.kernels;
      work.detail = AddMissingRow(kernels);
      kernels.grid_x[work.detail] = Size(row, OnnxKey::kGridX);
      kernels.grid_y[work.detail] = Size(row, OnnxKey::kGridY);
      kernels.grid_z[work.detail] = Size(row, OnnxKey::kGridZ);
      kernels.block_x[work.detail] = Size(row, OnnxKey::kBlockX);
      kernels.block_y[work.detail] = Size(row, OnnxKey::kBlockY);
      kernels.block_z[work.detail] = Size(row, OnnxKey::kBlockZ);
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
  std::vector<Node> nodes_;
  HashMap<uint32_t, size_t> node_of_;   // by name
  HashMap<uint32_t, int64_t> handles_;  // the number of a stream, by its handle
  int64_t steps_ = 0;
  int64_t last_id_ = 0;
  uint64_t seen_ = 0;
  Vendor vendor_ = Vendor::kUnknown;
};

}  // namespace

Result<Trace> LoadOnnxRuntimeTrace(TextReader& reader, const std::string& name,
                                   const LoadOptions& options) {
  ChromeRows rows(kOnnxKeys);
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
