// modelled, roofs: what the other tables of `roofline` rest on.
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

std::string_view StatusOf(const RooflineInput& in, DeviceId id) {
  const WorkInfo& info = in.work.info[id.value];
  if (info.status == WorkStatus::kUnknownCost) {
    return CostStatusName(in.work.calls[info.call].cost().status);
  }
  return in.work.IsCaptured(id) ? kCapturedStatus : WorkStatusName(info.status);
}

// Whether values of arguments were recorded for the call.
bool HasValues(const RooflineInput& in, HostId call) {
  const uint32_t row = in.view.trace.host().detail[call.value];
  return row != kNoDetail && !in.view.trace.Text(in.view.trace.ops().concrete_inputs[row]).empty();
}

// What to do about work of a status; empty: nothing.
std::string_view HelpOf(const RooflineInput& in, DeviceId id) {
  const WorkInfo& info = in.work.info[id.value];
  switch (info.status) {
    case WorkStatus::kNoModel:
      return "these operators have no cost model";
    case WorkStatus::kGraph:
      return "record the capture of the graph and a run before it, or run without graphs";
    case WorkStatus::kNoLaunch:
      return "begin recording before the work is launched";
    case WorkStatus::kUnknownCost:
      break;
    default:
      return "";
  }
  switch (in.work.calls[info.call].cost().status) {
    case CostStatus::kMissingShapes: {
      const std::string_view remedy = RemedyFor(MissingData::kShapes, in.view.trace);
      return remedy.empty() ? "profile with record_shapes=True" : remedy;
    }
    case CostStatus::kNeedsValues:
      return HasValues(in, in.work.calls[info.call].shapes_of)
                 ? "the recorded values of arguments leave out one that the model needs"
             : RemedyFor(MissingData::kShapes, in.view.trace).empty()
                 ? "profile with record_shapes=True in PyTorch 2.1 or later, which records values"
                 : "this profiler records no values of arguments";
    case CostStatus::kDependsOnData:
      return "it depends on lengths or indices in tensors, or on parts of buffers, which no "
             "profiler records";
    case CostStatus::kUnknownType:
      return "types of tensors in lists are not recorded";
    default:
      return "";
  }
}

std::string_view NameOf(const Trace& trace, int64_t gpu) {
  for (const DeviceInfo& info : trace.meta().devices) {
    if (info.id == gpu) return info.name;
  }
  return trace.meta().devices.empty() ? std::string_view() : trace.meta().devices.front().name;
}

struct ModelledRow {
  std::string_view status = {};
  int64_t kernels = 0;
  int64_t total_ns = 0;
  std::optional<double> share = {};  // after the last reduce
  std::optional<std::string_view> help = {};

  static constexpr TableNames kTable{"modelled", "How much of the device time has a model"};
  static constexpr ColumnOf<ModelledRow> kColumns[] = {
      {"status", &ModelledRow::status, Role::kKey,
       "\"modelled\", and of kernels of graphs \"captured\", are counted in the other tables; "
       "all others say why not."},
      {"kernels", &ModelledRow::kernels, Unit::kCount, Role::kSum, "Kernels, copies and memsets."},
      {"total_ns", &ModelledRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their durations."},
      {"share", &ModelledRow::share, Unit::kShare, Role::kDerived, "Total / all device work."},
      {"help", &ModelledRow::help, Role::kDerived, "What can be done about it."}};
};

struct RoofRow {
  std::optional<std::string_view> device = {};
  std::optional<std::string_view> spec = {};
  std::optional<double> fp32_tflops = {};
  std::optional<double> tf32_tflops = {};
  std::optional<double> fp16_tflops = {};
  std::optional<double> bf16_tflops = {};
  std::optional<double> memory_gbps = {};
  std::optional<std::string_view> source = {};

  static constexpr TableNames kTable{"roofs", "The peaks that times are compared with"};
  static constexpr ColumnOf<RoofRow> kColumns[] = {
      {"device", &RoofRow::device, Role::kKey, "Name of the device as recorded."},
      {"spec", &RoofRow::spec, Role::kKey,
       "The device whose peaks are taken; missing if not known."},
      {"fp32_tflops", &RoofRow::fp32_tflops, Role::kDerived,
       "Peak of the vector units, 1e12 operations per second."},
      {"tf32_tflops", &RoofRow::tf32_tflops, Role::kDerived, "Peak of the matrix units, dense."},
      {"fp16_tflops", &RoofRow::fp16_tflops, Role::kDerived, "Peak of the matrix units, dense."},
      {"bf16_tflops", &RoofRow::bf16_tflops, Role::kDerived, "Peak of the matrix units, dense."},
      {"memory_gbps", &RoofRow::memory_gbps, Unit::kGigabytesPerSecond, Role::kDerived,
       "Peak bandwidth of the device memory."},
      {"source", &RoofRow::source, Role::kDerived,
       "Where these numbers stand, or how to give them."}};
};

RoofRow RoofOf(std::string_view device, const DeviceSpec* spec) {
  if (spec == nullptr) {
    return {.device = Recorded(device),
            .source = "not known: name it with --device, or describe it with --device-spec FILE"};
  }
  return {.device = Recorded(device),
          .spec = spec->name,
          .fp32_tflops = CeilingOf(*spec, Peak::kFp32),
          .tf32_tflops = CeilingOf(*spec, Peak::kTf32Matrix),
          .fp16_tflops = CeilingOf(*spec, Peak::kFp16Matrix),
          .bf16_tflops = CeilingOf(*spec, Peak::kBf16Matrix),
          .memory_gbps = BandwidthOf(*spec),
          .source = Recorded(std::string_view(spec->source))};
}

}  // namespace

Table ModelledShareTable(const RooflineInput& in) {
  std::map<std::string_view, ModelledRow> statuses;
  const DeviceEvents& device = in.view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (in.selected.Keeps(DeviceId{row})) {
      ModelledRow& sums = statuses[StatusOf(in, DeviceId{row})];
      ++sums.kernels;
      AddSaturatingTo(sums.total_ns, device.dur_ns[row]);
      if (!sums.help) sums.help = Recorded(HelpOf(in, DeviceId{row}));
    }
  }
  std::vector<ModelledRow> rows;
  for (auto& [status, sums] : statuses) {
    sums.status = status;
    rows.push_back(sums);
  }
  return MakeTable(rows);
}

Table FinishModelledShare(Table modelled) {
  int64_t all_ns = 0;
  for (const ModelledRow& row : ReadRows<ModelledRow>(modelled)) {
    AddSaturatingTo(all_ns, row.total_ns);
  }
  UpdateRows<ModelledRow>(modelled,
                          [&](ModelledRow& row) { row.share = ShareOf(row.total_ns, all_ns); });
  return Sorted(modelled, "total_ns");
}

Table RoofsTable(const RooflineInput& in) {
  std::set<int64_t> gpus;
  const Tracks& tracks = in.view.trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_shown =
        HasDeviceWork(in.view.trace, track) && in.selected.KeepsTrack(TrackId{track});
    if (is_shown) gpus.insert(tracks.pid[track]);
  }
  std::vector<RoofRow> rows;
  rows.reserve(gpus.size());
  for (const int64_t gpu : gpus) {
    rows.push_back(RoofOf(NameOf(in.view.trace, gpu), in.roofs.SpecOf(gpu)));
  }
  return MakeTable(rows);
}

}  // namespace borescope::internal
