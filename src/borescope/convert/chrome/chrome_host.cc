#include "borescope/base/stop.h"
#include "borescope/convert/chrome/chrome_details.h"
#include "borescope/convert/chrome/chrome_events.h"
#include "borescope/convert/json_value.h"

namespace borescope::internal {
namespace {

// The category of a runtime call, of which readers tell the vendor.
std::string_view RuntimeCategory(Vendor vendor, std::string_view name) {
  if (vendor == Vendor::kIntel) {
    return "xpu_runtime";
  }
  if (vendor == Vendor::kMeta) {
    return "mtia_runtime";
  }
  return name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
}

std::string_view HostCategory(HostKind kind, Vendor vendor, std::string_view name) {
  switch (kind) {
    case HostKind::kPython:
      return "python_function";
    case HostKind::kAnnotation:
      return "user_annotation";
    case HostKind::kOp:
      return "cpu_op";
    case HostKind::kRuntime:
      return RuntimeCategory(vendor, name);
    case HostKind::kOther:
      break;
  }
  return "overhead";
}

class HostWriter {
 public:
  HostWriter(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text)
      : trace_(input.trace),
        first_id_(static_cast<uint64_t>(input.source.first_id)),
        tracks_(tracks),
        text_(text),
        is_json_(trace_.strings().size(), 0) {}

  void Write(uint32_t row) {
    const HostEvents& host = trace_.host();
    if (trace_.tracks().is_async[host.track[row].value] != 0) {
      return WriteAsync(row);
    }
    PutHead(R"({"ph":"X","cat":")", row);
    text_.Put(tracks_.Place(host.track[row]));
    text_.PutTime(host.ts_ns[row]);
    text_.Put(",\"dur\":");
    text_.PutTime(host.dur_ns[row]);
    PutArgs(row);
  }

 private:
  // Viewers take complete events of a thread to be nested, so that one that may overlap others is
  // written as its begin and its end.
  void WriteAsync(uint32_t row) {
    PutAsync(R"({"ph":"b","cat":")", row, trace_.host().ts_ns[row]);
    PutArgs(row);
    PutAsync(R"({"ph":"e","cat":")", row, trace_.host().end_ns(HostId{row}));
    text_.Put("}");
  }

  void PutAsync(std::string_view start, uint32_t row, int64_t ts_ns) {
    PutHead(start, row);
    text_.Put(",\"id\":");
    text_.PutUint(first_id_ + row);
    text_.Put(tracks_.Place(trace_.host().track[row]));
    text_.PutTime(ts_ns);
  }

  void PutHead(std::string_view start, uint32_t row) {
    const HostEvents& host = trace_.host();
    const StringId name = host.name[row];
    text_.StartEvent();
    text_.Put(start);
    text_.Put(HostCategory(host.kind[row], trace_.meta().vendor, trace_.Text(name)));
    text_.Put(R"(","name":)");
    text_.PutPooled(name);
  }

  void PutArgs(uint32_t row) {
    const HostEvents& host = trace_.host();
    ChromeArgs args(text_);
    if (host.detail[row] != kNoDetail) {
      WriteDetail(host.kind[row], host.detail[row], args);
    }
    args.End();
  }

  void WriteDetail(HostKind kind, uint32_t detail, ChromeArgs& args) {
    switch (kind) {
      case HostKind::kAnnotation:
      case HostKind::kOp:
        return WriteOp(detail, args);
      case HostKind::kRuntime:
      case HostKind::kOther:
        return WriteCall(detail, args);
      case HostKind::kPython:
        return;
    }
  }

  void WriteTritonLaunch(uint32_t row, ChromeArgs& args) {
    if (row != kNoDetail) {
      args.Text("\"kernel_backend\":", trace_.triton().backend[row]);
      args.Text("\"kernel_file\":", trace_.triton().kernel_file[row]);
      if (const int64_t bytes = trace_.triton().bytes[row]; bytes != kMissing) {
        args.Number("\"kernel_num_gb\":", static_cast<double>(bytes) / 1e9);
      }
      args.Int("\"kernel_flop\":", trace_.triton().flops[row]);
    }
  }

  void WriteOp(uint32_t row, ChromeArgs& args) {
    const Ops& ops = trace_.ops();
    args.Int("\"External id\":", ops.external_id[row]);
    args.Int("\"Record function id\":", ops.record_function_id[row]);
    args.Int("\"Sequence number\":", ops.sequence[row]);
    args.Int("\"Fwd thread id\":", ops.forward_thread[row]);
    WriteJson("\"Input Dims\":", ops.input_dims[row], args);
    WriteJson("\"Input type\":", ops.input_types[row], args);
    WriteJson("\"Input Strides\":", ops.input_strides[row], args);
    WriteJson("\"Concrete Inputs\":", ops.concrete_inputs[row], args);
    WriteTritonLaunch(ops.triton[row], args);
    WriteCollective(trace_, ops.collective[row], args);
  }

  void WriteCall(uint32_t row, ChromeArgs& args) {
    const RuntimeCalls& calls = trace_.runtime_calls();
    args.Int("\"External id\":", calls.external_id[row]);
    args.Int("\"correlation\":", calls.correlation[row]);
    args.Text("\"domain\":", calls.domain[row]);
    args.Text("\"arguments\":", calls.args[row]);
    args.Text("\"kernel\":", calls.kernel[row]);
  }

  // Text that was recorded as JSON stays JSON, if it is.
  void WriteJson(std::string_view key, StringId id, ChromeArgs& args) {
    const std::string_view json = trace_.Text(id);
    if (json.empty()) {
      return;
    }
    args.Key(key);
    if (IsJson(id, json)) {
      text_.Put(json);
    } else {
      text_.PutPooled(id);
    }
  }

  bool IsJson(StringId id, std::string_view json) {
    constexpr char kYes = 1;
    constexpr char kNo = 2;
    char& known = is_json_[id.value];
    if (known == 0) {
      known = IsJsonValue(json) ? kYes : kNo;
    }
    return known == kYes;
  }

  const Trace& trace_;
  const uint64_t first_id_;
  const ChromeTracks& tracks_;
  ChromeText& text_;
  std::vector<char> is_json_;  // by StringId: 0 not looked at yet
};

}  // namespace

void WriteHostEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                     ConvertCounts& counts) {
  HostWriter writer(input, tracks, text);
  const HostEvents& host = input.trace.host();
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (counts.Keep(input.Keeps(HostId{row}))) {
      writer.Write(row);
    }
  }
}

}  // namespace borescope::internal
