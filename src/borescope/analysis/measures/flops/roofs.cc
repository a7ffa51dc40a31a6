#include "borescope/analysis/measures/flops/roofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/index/names/copy_kind.h"
#include "borescope/opmodel/devices/device_spec_file.h"
#include "borescope/opmodel/devices/device_table.h"

namespace borescope::internal {
namespace {

// Some centuries: sums of a few of them do not overflow.
constexpr double kMostNs = 1e18;

int64_t TimeFor(uint64_t amount, double per_ns) {
  const double ns = static_cast<double>(amount) / per_ns;
  return ns < kMostNs ? std::llround(ns) : static_cast<int64_t>(kMostNs);
}

std::optional<double> CeilingOf(const DeviceSpec& spec, std::optional<Peak> peak) {
  return peak.has_value() ? CeilingOf(spec, *peak) : std::nullopt;
}

// Complex numbers are pairs of floating point numbers; frameworks compute on all else in fp32.
std::string_view ArithmeticOf(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat64:
    case ScalarType::kComplex128:
      return "fp64";
    case ScalarType::kFloat16:
    case ScalarType::kBFloat16:
      return ScalarTypeName(type);
    default:
      return "fp32";
  }
}

std::string_view OperandsOf(ScalarType type) {
  switch (type) {
    case ScalarType::kFloat4:
      return "fp4";
    case ScalarType::kFloat8E5M2:
    case ScalarType::kFloat8E4M3:
      return "fp8";
    case ScalarType::kInt8:
    case ScalarType::kUInt8:
    case ScalarType::kQInt8:
    case ScalarType::kQUInt8:
      return "int8";
    default:
      return ArithmeticOf(type);
  }
}

std::optional<double> VectorTflops(const DeviceSpec& spec, ScalarType type) {
  const std::optional<double> own = CeilingOf(spec, VectorPeakOf(ArithmeticOf(type)));
  return own.has_value() ? own : CeilingOf(spec, Peak::kFp32);
}

std::optional<double> MatrixTflops(const DeviceSpec& spec, ScalarType type, MatrixUse use,
                                   std::string_view named) {
  if (use == MatrixUse::kYes && !named.empty()) {
    const std::optional<double> ceiling = CeilingOf(spec, MatrixPeakOf(named));
    if (ceiling.has_value()) return ceiling;
  }
  const std::string_view operands = OperandsOf(type);
  const std::optional<double> own = CeilingOf(spec, MatrixPeakOf(operands));
  if (own.has_value()) return own;
  if (operands == "fp32" && use == MatrixUse::kYes) return CeilingOf(spec, Peak::kTf32Matrix);
  return CeilingOf(spec, VectorPeakOf(operands));
}

// Of the devices of the process the one of this number; all, if they have one name.
std::optional<DeviceSpec> RecordedSpec(const Trace& trace, int64_t gpu) {
  const std::vector<DeviceInfo>& devices = trace.meta().devices;
  const auto numbered = std::find_if(devices.begin(), devices.end(),
                                     [gpu](const DeviceInfo& info) { return info.id == gpu; });
  if (numbered != devices.end()) return FindDeviceSpec(*numbered);
  const bool are_alike = std::all_of(devices.begin(), devices.end(), [&](const DeviceInfo& info) {
    return info.name == devices.front().name;
  });
  return devices.empty() || !are_alike ? std::nullopt : FindDeviceSpec(devices.front());
}

std::string KnownNames() {
  std::string names;
  for (const std::span<const DevicePeaksRow> rows : {NvidiaDeviceRows(), AmdDeviceRows()}) {
    for (const DevicePeaksRow& row : rows) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
    }
  }
  return names;
}

}  // namespace

std::optional<double> CeilingOf(const DeviceSpec& spec, Peak peak) {
  const std::optional<double> measured = spec.measured.At(peak);
  return measured.has_value() ? measured : spec.peak.At(peak);
}

std::optional<double> BandwidthOf(const DeviceSpec& spec) {
  return spec.measured.memory_gbps.has_value() ? spec.measured.memory_gbps : spec.peak.memory_gbps;
}

std::string_view BoundName(Bound bound) {
  constexpr std::string_view kNames[] = {"compute", "memory", "latency", ""};
  return kNames[static_cast<size_t>(bound)];
}

int64_t RoofTime::longest() const { return std::max({matrix_ns, vector_ns, memory_ns}); }

Bound BoundOf(const RoofTime& roof, int64_t total_ns, int64_t kernels) {
  const bool is_short = total_ns / std::max<int64_t>(1, kernels) < kLatencyKernelNs;
  if (is_short && total_ns / kLatencyTimesRoof > roof.longest()) return Bound::kLatency;
  return std::max(roof.matrix_ns, roof.vector_ns) > roof.memory_ns ? Bound::kCompute
                                                                   : Bound::kMemory;
}

Result<std::optional<DeviceSpec>> GivenDevice(const Params& params) {
  const std::string* file = params.Content(kDeviceSpecParam);
  const std::string_view name = params.Text(kDeviceParam);
  if (file != nullptr && !name.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "`device` and `device_spec` both name the device",
                 .remedy = "give one of them",
                 .parameter = "device"};
  }
  if (file != nullptr) {
    BS_ASSIGN(DeviceSpec spec, ParseDeviceSpec(*file, params.Text(kDeviceSpecParam)));
    return std::optional<DeviceSpec>(std::move(spec));
  }
  if (name.empty()) return std::optional<DeviceSpec>();
  if (std::optional<DeviceSpec> spec = FindDeviceSpec(name); spec.has_value()) return spec;
  DeviceInfo as_reported;  // by drivers, and so in traces
  as_reported.name = name;
  if (std::optional<DeviceSpec> spec = FindDeviceSpec(as_reported); spec.has_value()) return spec;
  return Error{.code = ErrorCode::kInvalidArgument,
               .cause = fmt::format("`device` {}: not known", name),
               .remedy = fmt::format("known are {}; describe any other in a file for `device_spec`",
                                     KnownNames()),
               .parameter = "device"};
}

Result<Roofs> Roofs::Make(const RankView& view, const Params& params) {
  BS_ASSIGN(const std::optional<DeviceSpec> given, GivenDevice(params));
  Roofs roofs;
  const Tracks& tracks = view.trace.tracks();
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != TrackKind::kDevice || roofs.specs_.contains(tracks.pid[track])) {
      continue;
    }
    const int64_t gpu = tracks.pid[track];
    roofs.specs_[gpu] = given.has_value() ? given : RecordedSpec(view.trace, gpu);
  }
  return roofs;
}

bool Roofs::knows_any() const {
  return std::any_of(specs_.begin(), specs_.end(),
                     [](const auto& of_gpu) { return of_gpu.second.has_value(); });
}

const DeviceSpec* Roofs::SpecOf(int64_t gpu) const {
  const auto found = specs_.find(gpu);
  return found == specs_.end() || !found->second.has_value() ? nullptr : &*found->second;
}

std::optional<RoofTime> Roofs::TimeOf(const ModelledCall& call, std::string_view operands,
                                      int64_t gpu) const {
  const OpCost& cost = call.cost();
  const DeviceSpec* spec = SpecOf(gpu);
  if (spec == nullptr) return std::nullopt;
  RoofTime time;
  if (cost.matrix_flops > 0) {
    const std::optional<double> tflops = MatrixTflops(*spec, cost.type, call.matrix_use, operands);
    if (!tflops.has_value()) return std::nullopt;
    time.matrix_ns = TimeFor(cost.matrix_flops, *tflops * 1e3);
  }
  if (const std::optional<double> tflops = VectorTflops(*spec, cost.type)) {
    time.vector_ns = TimeFor(cost.vector_flops, *tflops * 1e3);
  }
  const std::optional<double> gbps = BandwidthOf(*spec);
  const bool has_bytes = gbps.has_value() && KnowsBytes(cost.status);
  if (has_bytes) {
    time.memory_ns = TimeFor(cost.bytes(), *gbps);
  } else if (cost.matrix_flops == 0) {
    return std::nullopt;  // memory would decide
  }
  return time;
}

namespace {

// Communication and copies from or to the host go over links, whose speed is not known.
bool UsesLinks(const Trace& trace, const ModelledCall& call, DeviceId main) {
  if (call.cost().family == OpFamily::kCollective) return true;
  const DeviceKind kind = trace.device().kind[main.value];
  return kind == DeviceKind::kMemcpy &&
         ClassifyCopy(kind, trace.Name(main)) != CopyKind::kDeviceToDevice;
}

}  // namespace

std::vector<std::optional<RoofTime>> RoofTimes(const Trace& trace, const ModelledWork& work,
                                               const Roofs& roofs) {
  std::vector<std::optional<RoofTime>> times(work.calls.size());
  HashMap<uint32_t, std::string_view> operands;  // by name
  for (size_t i = 0; i < work.calls.size(); ++i) {
    const ModelledCall& call = work.calls[i];
    const std::span<const DeviceId> works = work.WorksOf(call);
    const bool is_known = work.info[works.front().value].status == WorkStatus::kModelled;
    if (!is_known) continue;
    const DeviceId main = *std::find_if(works.begin(), works.end(), [&](DeviceId id) {
      return work.info[id.value].role == KernelRole::kMain;
    });
    if (UsesLinks(trace, call, main)) continue;
    std::string_view format;
    if (call.matrix_use == MatrixUse::kYes) {
      const auto [known, is_new] = operands.try_emplace(trace.device().name[main.value].value);
      if (is_new) {
        known->second = OperandFormat(trace.Name(main));
      }
      format = known->second;
    }
    times[i] = roofs.TimeOf(call, format, trace.DeviceOf(works.front()));
  }
  return times;
}

}  // namespace borescope::internal
