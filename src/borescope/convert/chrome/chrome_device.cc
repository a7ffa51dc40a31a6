#include <cmath>

#include "borescope/base/stop.h"
#include "borescope/convert/chrome/chrome_details.h"
#include "borescope/convert/chrome/chrome_events.h"

namespace borescope::internal {
namespace {

std::string_view DeviceCategory(DeviceKind kind, Vendor vendor) {
  switch (kind) {
    case DeviceKind::kKernel:
      return "kernel";
    case DeviceKind::kMemcpy:
      return "gpu_memcpy";
    case DeviceKind::kMemset:
      return "gpu_memset";
    case DeviceKind::kSync:
      return vendor == Vendor::kIntel ? "xpu_sync" : "cuda_sync";
    case DeviceKind::kAnnotation:
      return "gpu_user_annotation";
    case DeviceKind::kRange:
      return "cuda_profiler_range";
    case DeviceKind::kOther:
      break;
  }
  return "cuda_event";
}

class DeviceWriter {
 public:
  DeviceWriter(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text)
      : input_(input), trace_(input.trace), tracks_(tracks), text_(text) {}

  void Write(uint32_t row) {
    const DeviceEvents& device = trace_.device();
    text_.StartEvent();
    text_.Put(R"({"ph":"X","cat":")");
    text_.Put(DeviceCategory(device.kind[row], trace_.meta().vendor));
    text_.Put(R"(","name":)");
    text_.PutPooled(device.name[row]);
    text_.Put(tracks_.Place(device.track[row]));
    text_.PutTime(device.ts_ns[row]);
    text_.Put(",\"dur\":");
    text_.PutTime(device.dur_ns[row]);
    WriteArgs(row);
    const HostId launch = input_.index.correlation.launch_of[row];
    if (launch.valid() && input_.Keeps(launch)) {
      WriteFlow(launch, row);
    }
  }

 private:
  void WriteArgs(uint32_t row) {
    const DeviceEvents& device = trace_.device();
    const DeviceKind kind = device.kind[row];
    ChromeArgs args(text_);
    args.Int("\"External id\":", device.external_id[row]);
    args.Int("\"correlation\":", device.correlation[row]);
    if (IsDeviceWork(kind)) {
      args.Int("\"device\":", trace_.DeviceOf(DeviceId{row}));
      if (!IsStreamByLine(row)) args.Int("\"stream\":", trace_.StreamOf(DeviceId{row}));
    }
    args.Int("\"process\":", trace_.tracks().process[device.track[row].value]);
    if (device.detail[row] != kNoDetail) {
      WriteDetail(kind, device.detail[row], args);
    }
    args.End();
  }

  // Whether no stream was recorded and the line of the event, which is used instead, is written as
  // it was. Streams of several processes may be on other lines.
  bool IsStreamByLine(uint32_t row) const {
    const DeviceEvents& device = trace_.device();
    return device.kind[row] == DeviceKind::kKernel && device.detail[row] != kNoDetail &&
           trace_.kernels().has_stream[device.detail[row]] == 0 &&
           trace_.tracks().process[device.track[row].value] == kMissing;
  }

  void WriteDetail(DeviceKind kind, uint32_t detail, ChromeArgs& args) {
    switch (kind) {
      case DeviceKind::kKernel:
        return WriteKernel(detail, args);
      case DeviceKind::kMemcpy:
      case DeviceKind::kMemset:
        return WriteCopy(detail, args);
      case DeviceKind::kSync:
        return WriteSync(detail, args);
      case DeviceKind::kRange:
        return WriteRange(detail, args);
      case DeviceKind::kAnnotation:
      case DeviceKind::kOther:
        return;
    }
  }

  // As many of the three as are recorded.
  void WriteTriple(std::string_view key, int32_t x, int32_t y, int32_t z, ChromeArgs& args) {
    if (x < 0) {
      return;
    }
    args.Key(key);
    text_.Put("[");
    text_.PutInt(x);
    if (y >= 0) {
      text_.Put(", ");
      text_.PutInt(y);
    }
    if (y >= 0 && z >= 0) {
      text_.Put(", ");
      text_.PutInt(z);
    }
    text_.Put("]");
  }

  void WriteKernel(uint32_t row, ChromeArgs& args) {
    const Kernels& kernels = trace_.kernels();
    args.Small("\"registers per thread\":", kernels.registers[row]);
    args.Small("\"shared memory\":", kernels.shared_bytes[row]);
    args.Small("\"private memory per thread\":", kernels.private_bytes[row]);
    WriteTriple("\"grid\":", kernels.grid_x[row], kernels.grid_y[row], kernels.grid_z[row], args);
    WriteTriple("\"block\":", kernels.block_x[row], kernels.block_y[row], kernels.block_z[row],
                args);
    args.Small("\"est. achieved occupancy %\":", kernels.occupancy_percent[row]);
    if (kernels.graph_node_id[row] != kMissing) {
      args.Key("\"graph node id\":");
      text_.PutUint(static_cast<uint64_t>(kernels.graph_node_id[row]));
    }
    args.Text("\"stream handle\":", kernels.stream_handle[row]);
    WriteCollective(trace_, kernels.collective[row], args);
  }

  void WriteCopy(uint32_t row, ChromeArgs& args) {
    const Copies& copies = trace_.copies();
    args.Int("\"bytes\":", copies.bytes[row]);
    if (copies.gbps[row] >= 0) {
      args.Number("\"memory bandwidth (GB/s)\":", copies.gbps[row]);
    }
    if (copies.call[row] != kNoDetail) {
      WriteCopyCall(copies.call[row], args);
    }
  }

  void WriteCopyCall(uint32_t row, ChromeArgs& args) {
    const CopyCalls& calls = trace_.copy_calls();
    args.Int("\"memcpy kind\":", calls.kind[row]);
    args.Text("\"stream handle\":", calls.stream_handle[row]);
    args.Text("\"source\":", calls.source[row]);
    args.Text("\"target\":", calls.target[row]);
    args.Int("\"source device\":", calls.source_device[row]);
    args.Int("\"target device\":", calls.target_device[row]);
    args.Int("\"width\":", calls.width[row]);
    args.Int("\"height\":", calls.height[row]);
    args.Int("\"is sync\":", calls.is_sync[row]);
    args.Int("\"is pinned\":", calls.is_pinned[row]);
  }

  void WriteSync(uint32_t row, ChromeArgs& args) {
    const Syncs& syncs = trace_.syncs();
    args.Int("\"stream\":", syncs.stream[row]);
    args.Int("\"wait_on_stream\":", syncs.wait_on_stream[row]);
    args.Int("\"wait_on_cuda_event_record_corr_id\":", syncs.wait_on_record_correlation[row]);
  }

  void WriteRange(uint32_t row, ChromeArgs& args) {
    const ProfilerRanges& ranges = trace_.ranges();
    const Metrics& metrics = trace_.metrics();
    for (uint32_t i = ranges.first_metric[row]; i < ranges.end_metric[row]; ++i) {
      args.Key("");
      text_.PutPooled(metrics.name[i]);
      text_.Put(":");
      text_.PutNumber(metrics.value[i]);
    }
  }

  uint64_t FlowId(uint32_t row) const {
    return static_cast<uint64_t>(input_.source.first_id) + row;
  }

  void WriteFlow(HostId launch, uint32_t row) {
    const HostEvents& host = trace_.host();
    text_.StartEvent();
    text_.Put(R"({"ph":"s","cat":"ac2g","name":"ac2g","id":)");
    text_.PutUint(FlowId(row));
    text_.Put(tracks_.Place(host.track[launch.value]));
    text_.PutTime(host.ts_ns[launch.value]);
    text_.Put("}");
    text_.StartEvent();
    text_.Put(R"({"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":)");
    text_.PutUint(FlowId(row));
    text_.Put(tracks_.Place(trace_.device().track[row]));
    text_.PutTime(trace_.device().ts_ns[row]);
    text_.Put("}");
  }

  const ConvertInput& input_;
  const Trace& trace_;
  const ChromeTracks& tracks_;
  ChromeText& text_;
};

}  // namespace

void WriteDeviceEvents(const ConvertInput& input, const ChromeTracks& tracks, ChromeText& text,
                       ConvertCounts& counts) {
  DeviceWriter writer(input, tracks, text);
  const DeviceEvents& device = input.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (counts.Keep(input.Keeps(DeviceId{row}))) {
      writer.Write(row);
    }
  }
}

}  // namespace borescope::internal
