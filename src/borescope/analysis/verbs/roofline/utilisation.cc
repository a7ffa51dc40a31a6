// utilisation: of the peak of the matrix units, how much the model used.
//
//   MFU   time that the matrix FLOPs of forward and backward take at peak / span. With operands of
//         one type that is model FLOPs / (span x peak).
//   HFU   the same with what was recomputed in backward
//   MFU of the best type   model FLOPs / (span x peak of the fastest type that any model can be
//   in):
//         a model that multiplies in fp32 is near its own peak, and far from what the device offers
//
// Where a window cuts the work of a call, FLOPs count in proportion to the time of the work inside,
// as in the ledger, whenever it was launched: a host that runs ahead launches in one step what runs
// in the next, and the work of two steps in one would be more than the peak. Vector FLOPs and
// updates of parameters do not count, as in the papers that named these.
//
// Kernels whose FLOPs are not known are missing in the sums, and so the ratios would be too small:
// `coverage` is the part of the compute time whose matrix FLOPs are known, and without enough of it
// (covered_time.h) there are no ratios.
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"
#include "borescope/opmodel/devices/tensor_cores.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kWithheld =
    "the FLOPs of more than 10 % of the compute time are not known: see modelled";
constexpr std::string_view kAllInherited =
    "all that ran was launched before the recording began, or beside such work";

constexpr char kNotAsked = 2;

// What matrices of any model can be in; of equal peaks the first counts. Shorter types need scales.
constexpr Peak kTypesOfModels[] = {Peak::kBf16Matrix, Peak::kFp16Matrix, Peak::kTf32Matrix,
                                   Peak::kFp32Matrix, Peak::kFp32};

struct BestType {
  Peak peak = Peak::kFp32;
  double tflops = 0;
};

std::optional<BestType> BestTypeOf(const DeviceSpec* spec) {
  std::optional<BestType> best;
  if (spec != nullptr) {
    for (const Peak peak : kTypesOfModels) {
      const double tflops = CeilingOf(*spec, peak).value_or(0);
      if (tflops > (best.has_value() ? best->tflops : 0)) best = BestType{peak, tflops};
    }
  }
  return best;
}

// "bf16" of "bf16_matrix".
std::string_view TypeName(Peak peak) {
  const std::string_view name = PeakName(peak);
  return name.substr(0, name.find('_'));
}

struct Use {
  int64_t model_flops = 0;
  int64_t recomputed_flops = 0;
  int64_t model_ns = 0;  // at peak
  int64_t recomputed_ns = 0;
  bool has_all_peaks = true;
};

void AddCall(const RooflineInput& in, size_t i, Use& use) {
  const ModelledCall& call = in.work.calls[i];
  const CallTime time = TimeOf(in, call);
  const int64_t flops = time.PartOf(static_cast<int64_t>(call.cost().matrix_flops));
  const bool is_recomputed = call.direction == WorkDirection::kRecompute;
  int64_t& flops_sum = is_recomputed ? use.recomputed_flops : use.model_flops;
  int64_t& ns_sum = is_recomputed ? use.recomputed_ns : use.model_ns;
  flops_sum = AddSaturating(flops_sum, flops);
  if (in.at_roof[i].has_value()) {
    ns_sum = AddSaturating(ns_sum, time.PartOf(in.at_roof[i]->matrix_ns));
  } else {
    use.has_all_peaks = false;
  }
}

// Work of no length is where it was launched.
bool IsInside(const RooflineInput& in, const ModelledCall& call) {
  const CallTime time = TimeOf(in, call);
  return time.total_ns > 0 ? time.inside_ns > 0 : TotalsOf(in, call).kernels > 0;
}

// Whether a kernel that no call with a model launched multiplies no matrices: kernels that work on
// elements, reduce or update parameters, and what TorchInductor and Triton generated for that.
bool HasNoMatrixWork(const RooflineInput& in, DeviceId id) {
  if (MatrixUseOf(in.view.trace.Name(id), true) == MatrixUse::kNotMatrix) return true;
  switch (in.view.index.ClassOf(in.view.trace, id)) {
    case KernelClass::kNorm:
    case KernelClass::kReduction:
    case KernelClass::kPointwise:
    case KernelClass::kOptimizer:
    case KernelClass::kSort:
      return MatrixUseOf(in.view.trace.Name(id), false) == MatrixUse::kNotMatrix;
    default:
      return false;
  }
}

// Whether the matrix FLOPs of a kernel are known. An operator that is no product of matrices has
// none, whatever its arguments are; nor have kernels that TorchInductor generated without
// templates, with or without an operator around their launch.
bool KnowsMatrixFlops(const RooflineInput& in, DeviceId id, std::vector<char>& has_none) {
  const WorkInfo& info = in.work.info[id.value];
  if (info.call == kNoCall) {
    char& known = has_none[in.view.trace.device().name[id.value].value];
    known = known == kNotAsked ? static_cast<char>(HasNoMatrixWork(in, id)) : known;
    return known == 1;
  }
  const OpCost& cost = in.work.calls[info.call].cost();
  return !IsMatrixFamily(cost.family) || KnowsFlops(cost.status);
}

// The compute kernels in the selected time, by GPU. Communication and copies have no FLOPs.
std::map<int64_t, TimeCovered> ComputeTimes(const RooflineInput& in) {
  std::map<int64_t, TimeCovered> times;
  const DeviceEvents& device = in.view.trace.device();
  std::vector<char> has_none(in.view.trace.strings().size(), kNotAsked);
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (!IsDeviceWork(device.kind[row]) || !in.selected.KeepsTrack(device.track[row])) continue;
    const KernelClass kernel_class = in.view.index.ClassOf(in.view.trace, id);
    if (ActivityOf(device.kind[row], kernel_class) == Activity::kCompute) {
      times[in.view.trace.DeviceOf(id)].Add(InsideOf(in, id), KnowsMatrixFlops(in, id, has_none));
    }
  }
  return times;
}

struct UtilisationRow {
  int64_t rank = 0;
  int64_t gpu = 0;
  int64_t span_ns = 0;
  int64_t model_flops = 0;
  int64_t recomputed_flops = 0;
  std::optional<double> tflops = {};
  std::optional<double> mfu = {};
  std::optional<double> hfu = {};
  std::optional<std::string_view> best_type = {};
  std::optional<double> mfu_best = {};
  std::optional<double> coverage = {};
  std::optional<std::string_view> withheld = {};
  std::optional<int64_t> window_begin_ns = {};
  double window_share = 0;

  static constexpr TableNames kTable{"utilisation", "How much of the matrix peak the model used"};
  static constexpr ColumnOf<UtilisationRow> kColumns[] = {
      {"rank", &UtilisationRow::rank, Role::kKey, kRankDoc},
      {"gpu", &UtilisationRow::gpu, Role::kKey, kGpuDoc},
      {"span_ns", &UtilisationRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Length of the selected time; without a selection of time, of what is after the work that "
       "was launched before the recording began."},
      {"model_flops", &UtilisationRow::model_flops, Unit::kFlops, Role::kSum,
       "Matrix FLOPs of forward and backward, each operator call once; of a call in part inside "
       "the selected time, in proportion to the time of its kernels."},
      {"recomputed_flops", &UtilisationRow::recomputed_flops, Unit::kFlops, Role::kSum,
       "The same of forward operators repeated in backward."},
      {"tflops", &UtilisationRow::tflops, Role::kDerived,
       "Model FLOPs / span, in 1e12 operations per second."},
      {"mfu", &UtilisationRow::mfu, Unit::kShare, Role::kDerived,
       "Model FLOPs / (span x peak); missing where the peak is not known."},
      {"hfu", &UtilisationRow::hfu, Unit::kShare, Role::kDerived,
       "The same with recomputed FLOPs."},
      {"best_type", &UtilisationRow::best_type, Role::kDerived,
       "The type with the highest peak of the device, of fp32, tf32, fp16 and bf16."},
      {"mfu_best", &UtilisationRow::mfu_best, Unit::kShare, Role::kDerived,
       "Model FLOPs / (span x that peak): the MFU, had all products been of that type."},
      {"coverage", &UtilisationRow::coverage, Unit::kShare, Role::kDerived,
       "Share of the time of compute kernels whose matrix FLOPs are known (also that they have "
       "none); the table modelled says why others are not."},
      {"withheld", &UtilisationRow::withheld, Role::kDerived,
       "Why there is no tflops, mfu and hfu: the coverage is below 0.9, or nothing was "
       "launched in the recording."},
      {"window_begin_ns", &UtilisationRow::window_begin_ns, Unit::kNanoseconds, Role::kDerived,
       "Where the time begins that the row is about."},
      {"window_share", &UtilisationRow::window_share, Unit::kShare, Role::kDerived,
       "Part of the selected time that it is; the rest is inherited work."}};
};

void AddRatios(const Use& use, UtilisationRow& row) {
  row.tflops = ShareOf(use.model_flops, row.span_ns) / 1e3;
  if (use.has_all_peaks) {
    row.mfu = ShareOf(use.model_ns, row.span_ns);
    row.hfu = ShareOf(AddSaturating(use.model_ns, use.recomputed_ns), row.span_ns);
  }
}

std::string_view WhyWithheld(const TimeCovered& time, int64_t span_ns) {
  return span_ns == 0 ? kAllInherited : time.is_enough() ? std::string_view() : kWithheld;
}

UtilisationRow UtilisationOf(const RooflineInput& in, int64_t gpu, const Use& use,
                             const TimeCovered& time) {
  const IntervalSet& windows = in.time_of.at(gpu);
  UtilisationRow row{.rank = in.view.rank,
                     .gpu = gpu,
                     .span_ns = Coverage(windows),
                     .model_flops = use.model_flops,
                     .recomputed_flops = use.recomputed_flops};
  const bool is_enough = row.span_ns > 0 && time.is_enough();
  if (is_enough) AddRatios(use, row);
  if (const std::optional<BestType> best = BestTypeOf(in.roofs.SpecOf(gpu))) {
    row.best_type = TypeName(best->peak);
    if (is_enough) row.mfu_best = *row.tflops / best->tflops;
  }
  if (time.all_ns > 0) row.coverage = ShareOf(time.covered_ns, time.all_ns);
  row.withheld = Recorded(WhyWithheld(time, row.span_ns));
  if (!windows.empty()) row.window_begin_ns = windows.front().begin;
  const auto inherited = in.inherited_ns.find(gpu);
  row.window_share = ShareOf(
      row.span_ns, row.span_ns + (inherited == in.inherited_ns.end() ? 0 : inherited->second));
  return row;
}

}  // namespace

Table UtilisationTable(const RooflineInput& in) {
  std::map<int64_t, Use> uses;  // by GPU
  for (size_t i = 0; i < in.work.calls.size(); ++i) {
    CheckStopAt(i);
    const ModelledCall& call = in.work.calls[i];
    const bool counts = call.cost().matrix_flops > 0 && call.direction != WorkDirection::kUpdate &&
                        IsInside(in, call);
    if (counts) {
      AddCall(in, i, uses[in.view.trace.DeviceOf(in.work.WorksOf(call).front())]);
    }
  }
  std::map<int64_t, TimeCovered> times = ComputeTimes(in);
  std::vector<UtilisationRow> rows;
  rows.reserve(uses.size());
  for (const auto& [gpu, use] : uses) {
    rows.push_back(UtilisationOf(in, gpu, use, times[gpu]));
  }
  return MakeTable(rows);
}

}  // namespace borescope::internal
