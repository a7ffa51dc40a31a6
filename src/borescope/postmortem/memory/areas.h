// What a device's memory held over time, by category: the areas of a chart. Pure functions: safe
// from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "borescope/postmortem/memory/live.h"
#include "borescope/postmortem/memory/memory_rows.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal::postmortem {

inline constexpr size_t kMemoryCategories = static_cast<size_t>(MemoryCategory::kEnd);

// The state after one event.
struct MemoryArea {
  uint32_t event = 0;
  std::array<uint64_t, kMemoryCategories> bytes = {};  // of blocks in use, by category
  uint64_t reserved = 0;                               // by segments of the allocator
  uint64_t failed = 0;  // rounded bytes of the request that failed at the event; 0: none did

  uint64_t allocated() const;
};

// The recording is cut into at most `most` / 2 parts: the time into `most` / 4 equal ones, where
// all events have one, and the events as well, so that neither a burst nor a pause hides anything.
// Of each part these states: the first with the most allocated, and the last. So the peak of all is
// exact, and between two states nothing was higher than the first of them or the second. Beside
// them are the last failed requests, at most `kMostFailures`.
inline constexpr size_t kMostFailures = 16;
std::vector<MemoryArea> FindAreas(const DeviceMemory& device, const Replay& replay,
                                  const MemoryCategories& categories, size_t most);

struct MemoryAreaRow {
  std::optional<int64_t> rank = {};
  int64_t device = 0;
  int64_t event = 0;
  std::optional<int64_t> ts_unix_ns = {};
  int64_t parameter_bytes = 0;
  int64_t gradient_bytes = 0;
  int64_t optimizer_state_bytes = 0;
  int64_t activation_bytes = 0;
  int64_t library_workspace_bytes = 0;
  int64_t held_bytes = 0;
  int64_t temporary_bytes = 0;
  int64_t before_recording_bytes = 0;
  int64_t reserved_bytes = 0;
  std::optional<int64_t> failed_bytes = {};

  static constexpr TableNames kTable{"memory_areas", "What memory held over time", 10};
  static constexpr ColumnOf<MemoryAreaRow> kColumns[] = {
      {"rank", &MemoryAreaRow::rank, Role::kKey, kRankDoc},
      {"device", &MemoryAreaRow::device, Role::kKey, kDeviceDoc},
      {"event", &MemoryAreaRow::event, Role::kKey,
       "Number of the event of the recording after which it was so."},
      {"ts_unix_ns", &MemoryAreaRow::ts_unix_ns, Unit::kNanoseconds, Role::kDerived,
       "When, nanoseconds since 1970; missing where some event has no time."},
      {"parameter_bytes", &MemoryAreaRow::parameter_bytes, Unit::kBytes, Role::kDerived,
       "Blocks in use of this category: docs/use/postmortem-memory.md."},
      {"gradient_bytes", &MemoryAreaRow::gradient_bytes, Unit::kBytes, Role::kDerived,
       "Blocks in use of this category."},
      {"optimizer_state_bytes", &MemoryAreaRow::optimizer_state_bytes, Unit::kBytes, Role::kDerived,
       "Blocks in use of this category."},
      {"activation_bytes", &MemoryAreaRow::activation_bytes, Unit::kBytes, Role::kDerived,
       "Blocks in use of this category."},
      {"library_workspace_bytes", &MemoryAreaRow::library_workspace_bytes, Unit::kBytes,
       Role::kDerived, "Blocks in use of this category."},
      {"held_bytes", &MemoryAreaRow::held_bytes, Unit::kBytes, Role::kDerived,
       "Blocks in use of the category held by the program."},
      {"temporary_bytes", &MemoryAreaRow::temporary_bytes, Unit::kBytes, Role::kDerived,
       "Blocks in use of this category."},
      {"before_recording_bytes", &MemoryAreaRow::before_recording_bytes, Unit::kBytes,
       Role::kDerived, "Blocks in use of this category."},
      {"reserved_bytes", &MemoryAreaRow::reserved_bytes, Unit::kBytes, Role::kDerived,
       "Segments of the allocator then."},
      {"failed_bytes", &MemoryAreaRow::failed_bytes, Unit::kBytes, Role::kDerived,
       "The request that failed at the event, rounded; missing where none did."}};
};

// The rows of the table memory_areas of these states.
void AddAreaRows(std::optional<int64_t> rank, const DeviceMemory& device,
                 const std::vector<MemoryArea>& areas, std::vector<MemoryAreaRow>& rows);

}  // namespace borescope::internal::postmortem
