// modelled, roofs: what the other tables of `roofline` rest on.
#include <map>
#include <set>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"

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
    case CostStatus::kMissingShapes:
      return "profile with record_shapes=True";
    case CostStatus::kNeedsValues:
      return HasValues(in, in.work.calls[info.call].shapes_of)
                 ? "the recorded values of arguments leave out one that the model needs"
                 : "profile with record_shapes=True in PyTorch 2.1 or later, which records values";
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

void PushRoof(Table& table, std::string_view device, const DeviceSpec* spec) {
  Row row(table);
  row.MaybeText(device);
  if (spec == nullptr) {
    row.Missing().Missing().Missing().Missing().Missing().Missing();
    row.Text("not known: name it with --device, or describe it with --device-spec FILE");
    return;
  }
  row.Text(spec->name);
  const auto number = [&](const std::optional<double>& value) {
    value.has_value() ? row.Float(*value) : row.Missing();
  };
  for (const Peak peak : {Peak::kFp32, Peak::kTf32Matrix, Peak::kFp16Matrix, Peak::kBf16Matrix}) {
    number(CeilingOf(*spec, peak));
  }
  number(BandwidthOf(*spec));
  row.MaybeText(spec->source);
}

}  // namespace

Table ModelledShareTable(const RooflineInput& in) {
  struct Sums {
    int64_t kernels = 0;
    int64_t total_ns = 0;
    std::string_view help;
  };
  std::map<std::string_view, Sums> statuses;
  const DeviceEvents& device = in.view.trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    if (in.selected.Keeps(DeviceId{row})) {
      Sums& sums = statuses[StatusOf(in, DeviceId{row})];
      ++sums.kernels;
      sums.total_ns = AddSaturating(sums.total_ns, device.dur_ns[row]);
      if (sums.help.empty()) sums.help = HelpOf(in, DeviceId{row});
    }
  }
  Table table{"modelled", "How much of the device time has a model", {}};
  AddString(table, "status", Role::kKey,
            "\"modelled\", and of kernels of graphs \"captured\", are counted in the other tables; "
            "all others say why not.");
  AddInt(table, "kernels", Unit::kCount, Role::kSum, "Kernels, copies and memsets.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Total / all device work.");
  AddString(table, "help", Role::kDerived, "What can be done about it.");
  for (const auto& [status, sums] : statuses) {
    Row(table).Text(status).Int(sums.kernels).Int(sums.total_ns).Missing().MaybeText(sums.help);
  }
  return table;
}

Table RoofsTable(const RooflineInput& in) {
  Table table{"roofs", "The peaks that times are compared with", {}};
  AddString(table, "device", Role::kKey, "Name of the device as recorded.");
  AddString(table, "spec", Role::kKey, "The device whose peaks are taken; missing if not known.");
  const auto peak = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kNone, Role::kDerived, doc);
  };
  peak("fp32_tflops", "Peak of the vector units, 1e12 operations per second.");
  peak("tf32_tflops", "Peak of the matrix units, dense.");
  peak("fp16_tflops", "Peak of the matrix units, dense.");
  peak("bf16_tflops", "Peak of the matrix units, dense.");
  AddFloat(table, "memory_gbps", Unit::kGigabytesPerSecond, Role::kDerived,
           "Peak bandwidth of the device memory.");
  AddString(table, "source", Role::kDerived, "Where these numbers stand, or how to give them.");
  std::set<int64_t> gpus;
  const Tracks& tracks = in.view.trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const bool is_shown =
        HasDeviceWork(in.view.trace, track) && in.selected.KeepsTrack(TrackId{track});
    if (is_shown) gpus.insert(tracks.pid[track]);
  }
  for (const int64_t gpu : gpus) {
    PushRoof(table, NameOf(in.view.trace, gpu), in.roofs.SpecOf(gpu));
  }
  return table;
}

}  // namespace borescope::internal
