// Device work by name: durations of kernels, memcpys and memsets by the keys of --by, the name and
// one label that the verb chooses. Shared by `kernels` and `top`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The column beside the name, and the words for what the table counts.
struct WorkLabel {
  std::string_view column;
  std::string_view column_doc;
  std::string_view name_doc;
  std::string_view things;  // in the plural: "launched kernels"
  int64_t (*of)(const RankView&, DeviceId);
  std::string_view (*text)(int64_t label);
};

struct WorkGroups {
  explicit WorkGroups(const GroupKeys& keys) : groups(keys.size() + 2), instances(keys) {}

  Grouper groups;  // key values, then name and label
  std::vector<DurationStats> stats;
  // Per group, or shorter: the time of work from before the recording that is inferred to belong to
  // it (align_inherited.h). It is not part of `stats`.
  std::vector<int64_t> aligned_ns;
  InstanceCounts instances;

  StringId name(size_t group) const {
    const std::span<const int64_t> key = groups.key(group);
    return StringId{static_cast<uint32_t>(key[key.size() - 2])};
  }
  int64_t label(size_t group) const { return groups.key(group).back(); }
  int64_t aligned(size_t group) const { return group < aligned_ns.size() ? aligned_ns[group] : 0; }
};

enum class WorkKinds : uint8_t { kKernels, kCopies, kAll };

// Everything selected of these kinds, whether or not its launch was recorded. O(rows).
WorkGroups GroupWork(const RankView& view, const Selected& selected, const GroupKeys& keys,
                     WorkKinds kinds, const WorkLabel& label);

// Whether one of these keys is unknown for work whose launch was not recorded, but can be inferred.
// Then tables have the column `aligned_ns`.
bool HasInferredKey(std::span<const std::string> by);
void AddAlignedColumn(Table& table);

// Adds selected work from before the recording by the keys that are inferred. REQUIRES:
// HasInferredKey of the keys. O(rows), and quick where nothing was inherited.
void GroupAligned(const RankView& view, const Selected& selected, const GroupKeys& keys,
                  WorkKinds kinds, const WorkLabel& label, WorkGroups& groups);

// The column `aligned_ns` of a table of WorkTable.
void PushAligned(Table& table, const WorkGroups& work);

// Fills an empty table with a row for each group. Such tables are merged, then finished by
// FinishStatsTable.
Table WorkTable(Table table, const RankView& view, const WorkGroups& work, const GroupKeys& keys,
                const WorkLabel& label);

// The class of a kernel; memcpys and memsets are KernelClass::kCopy.
KernelClass WorkClassOf(const RankView& view, DeviceId id);

// All selected work by start, and work that starts at the same time in the order of the streams.
std::vector<DeviceId> WorkByStart(const RankView& view, const Selected& selected);

// The bytes that a memcpy or memset moved or set. kMissing for kernels, and where the number was
// not recorded or is negative.
inline int64_t CopyBytes(const Trace& trace, DeviceId id) {
  const DeviceKind kind = trace.device().kind[id.value];
  const uint32_t detail = trace.device().detail[id.value];
  if ((kind != DeviceKind::kMemcpy && kind != DeviceKind::kMemset) || detail == kNoDetail) {
    return kMissing;
  }
  const int64_t bytes = trace.copies().bytes[detail];
  return bytes < 0 ? kMissing : bytes;
}

}  // namespace borescope::internal
