// Reports of memcpys and memsets, by where from and where to.
#include <array>
#include <utility>

#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/stats/stats_reports.h"
#include "borescope/base/stop.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {
namespace {

std::string_view NsysKindName(CopyKind kind) {
  constexpr std::string_view kNames[] = {
      "[CUDA memcpy Host-to-Device]",   "[CUDA memcpy Device-to-Host]",
      "[CUDA memcpy Device-to-Device]", "[CUDA memcpy Peer-to-Peer]",
      "[CUDA memcpy Host-to-Host]",     "[CUDA memset]",
      "[CUDA memcpy Unknown]"};
  static_assert(std::size(kNames) == static_cast<size_t>(CopyKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

CopyKind KindOf(const RankView& view, DeviceId id) {
  return ClassifyCopy(view.trace.device().kind[id.value], view.trace.Name(id));
}

// `value_of` gives the sample of a copy, kMissing where it has none.
template <class ValueOf>
Table CollectCopies(Table table, const RankView& view, const Selected& selected,
                    const ValueOf& value_of) {
  const DeviceEvents& device = view.trace.device();
  SampleGroups groups(1);
  for (uint32_t row = 0; row < device.size(); ++row) {
    CheckStopAt(row);
    const DeviceId id{row};
    if (device.kind[row] == DeviceKind::kKernel || !selected.Keeps(id)) {
      continue;
    }
    if (const int64_t value = value_of(id); value != kMissing) {
      groups.Add(std::array{static_cast<int64_t>(KindOf(view, id))}, 0, value);
    }
  }
  AddString(table, "Operation", Role::kKey, "Where from and where to.");
  return groups.Fill(std::move(table), [](Row& row, std::span<const int64_t> key) {
    row.Text(NsysKindName(static_cast<CopyKind>(key[0])));
  });
}

}  // namespace

std::string_view NsysCopyName(const RankView& view, DeviceId id) {
  return NsysKindName(KindOf(view, id));
}

Table CollectCopyTimes(Table table, const RankView& view, const Selected& selected) {
  return CollectCopies(std::move(table), view, selected,
                       [&](DeviceId id) { return view.trace.device().dur_ns[id.value]; });
}

Table CollectCopySizes(Table table, const RankView& view, const Selected& selected) {
  return CollectCopies(std::move(table), view, selected,
                       [&](DeviceId id) { return CopyBytes(view.trace, id); });
}

}  // namespace borescope::internal
