// tensor_core_misses: matrix operators on short numbers, which matrix units are made for, whose
// main kernels did not use them, and the sizes that may be why.
#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/roofline/matrix_sizes.h"
#include "borescope/analysis/verbs/roofline/roofline.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int kMostBits = 16;
constexpr int64_t kFirstWithTensorCores = 7;  // NVIDIA's compute capability of Volta

struct Sums {
  int64_t count = 0;
  int64_t total_ns = 0;
  std::optional<int64_t> lost_ns;
};

bool HasMatrixUnits(const Trace& trace, int64_t gpu) {
  for (const DeviceInfo& info : trace.meta().devices) {
    if (info.id == gpu && trace.meta().vendor == Vendor::kNvidia && info.compute_major > 0) {
      return info.compute_major >= kFirstWithTensorCores;
    }
  }
  return true;
}

bool IsMiss(const ModelledCall& call) {
  const int bits = BitsPerElement(call.cost().type);
  return call.matrix_use == MatrixUse::kNo && IsFloatingPoint(call.cost().type) && bits > 0 &&
         bits <= kMostBits;
}

std::string_view TextOf(const Trace& trace, HostId op, ColumnData<StringId> Ops::* column) {
  const uint32_t row = trace.host().detail[op.value];
  return row == kNoDetail ? std::string_view() : trace.Text((trace.ops().*column)[row]);
}

// "n = 30522, k = 1001 (not a multiple of 8)".
std::string MisalignedText(const Trace& trace, const ModelledCall& call) {
  const std::string_view dims = TextOf(trace, call.shapes_of, &Ops::input_dims);
  const std::string_view types = TextOf(trace, call.shapes_of, &Ops::input_types);
  const CallArgs args =
      CallArgs::Parse({.dims = dims, .types = types, .strides = {}, .values = {}});
  if (!args.is_recorded() || args.is_bad()) return "";
  const std::vector<NamedSize> sizes =
      MatrixSizesOf(trace.Name(call.shapes_of), call.cost().family, args);
  const int bits = BitsPerElement(call.cost().type);
  std::string text;
  for (const NamedSize& size : MisalignedSizes(sizes, bits)) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", size.name, size.size);
  }
  if (text.empty()) return "";
  return fmt::format("{} (not a multiple of {})", text, MatrixAlignment(bits));
}

Table NewMissesTable() {
  Table table{"tensor_core_misses", "Short numbers that no matrix unit multiplied", {}};
  AddString(table, "op", Role::kKey, "Matrix operator on numbers of at most 16 bits.");
  AddString(table, "shapes", Role::kKey, "Input shapes as recorded.");
  AddString(table, "dtype", Role::kKey, "Type of the operands.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Time of their kernels.");
  AddInt(table, "at_stake_ns", Unit::kNanoseconds, Role::kSum,
         "Time beyond what the roof of the matrix units allows; missing if that is not known.");
  AddString(table, "misaligned", Role::kDerived,
            "Sizes that are no multiple of 16 bytes, which may be why; missing if all are.");
  return table;
}

}  // namespace

Table TensorCoreMissesTable(const RooflineInput& in) {
  const Trace& trace = in.view.trace;
  std::map<std::tuple<std::string_view, std::string_view, ScalarType, std::string>, Sums> misses;
  for (size_t i = 0; i < in.work.calls.size(); ++i) {
    CheckStopAt(i);
    const ModelledCall& call = in.work.calls[i];
    if (!IsMiss(call) || !HasMatrixUnits(trace, trace.DeviceOf(in.work.WorksOf(call).front()))) {
      continue;
    }
    const CallTotals totals = TotalsOf(in, call);
    if (totals.kernels == 0) continue;
    Sums& sums = misses[{trace.Name(call.op), TextOf(trace, call.shapes_of, &Ops::input_dims),
                         call.cost().type, MisalignedText(trace, call)}];
    ++sums.count;
    sums.total_ns = AddSaturating(sums.total_ns, totals.total_ns);
    if (in.at_roof[i].has_value()) {
      const int64_t lost_ns = std::max<int64_t>(0, totals.total_ns - in.at_roof[i]->longest());
      sums.lost_ns = AddSaturating(sums.lost_ns.value_or(0), lost_ns);
    }
  }
  Table table = NewMissesTable();
  for (const auto& [key, sums] : misses) {
    const auto& [op, shapes, type, misaligned] = key;
    Row row(table);
    row.Text(op).MaybeText(shapes).Text(ScalarTypeName(type));
    row.Int(sums.count).Int(sums.total_ns).MaybeInt(sums.lost_ns).MaybeText(misaligned);
  }
  return table;
}

}  // namespace borescope::internal
