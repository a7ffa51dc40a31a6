// The tables of a post-mortem that memory snapshots give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/table/typed_rows.h"

namespace borescope::internal::postmortem {

inline constexpr std::string_view kRankDoc = "Whose snapshot it is; missing if that is not known.";
inline constexpr std::string_view kDeviceDoc = "Number of the device in the process.";
inline constexpr std::string_view kFileDoc = "The snapshot; missing where there is no other one.";

struct OomRow {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  int64_t device = 0;
  std::optional<int64_t> ts_unix_ns = {};
  std::optional<std::string> line = {};
  std::optional<int64_t> requested_bytes = {};
  int64_t rounded_bytes = 0;
  int64_t needed_bytes = 0;
  int64_t device_free_bytes = 0;
  std::optional<int64_t> allowed_low_bytes = {};
  std::optional<int64_t> allowed_high_bytes = {};
  int64_t reserved_bytes = 0;
  int64_t allocated_bytes = 0;
  int64_t slack_bytes = 0;
  int64_t pending_bytes = 0;
  int64_t usable_bytes = 0;
  int64_t too_small_bytes = 0;
  int64_t other_pool_bytes = 0;
  int64_t other_stream_bytes = 0;
  int64_t private_pool_bytes = 0;
  int64_t releasable_bytes = 0;
  int64_t largest_free_bytes = 0;
  int64_t free_blocks = 0;
  std::optional<int64_t> other_processes_bytes = {};
  std::string cause = {};
  int64_t retries = 0;

  static constexpr TableNames kTable{"oom", "Requests that failed for want of memory", 10};
  static constexpr ColumnOf<OomRow> kColumns[] = {
      {"rank", &OomRow::rank, Role::kKey, kRankDoc},
      {"device", &OomRow::device, Role::kKey, kDeviceDoc},
      {"ts_unix_ns", &OomRow::ts_unix_ns, Unit::kNanoseconds, Role::kKey,
       "When, nanoseconds since 1970; missing where the snapshot has no times."},
      {"line", &OomRow::line, Role::kDerived, "The line of the program that asked."},
      {"requested_bytes", &OomRow::requested_bytes, Unit::kBytes, Role::kDerived,
       "What was asked for, where a message says so: a snapshot has the rounded size."},
      {"rounded_bytes", &OomRow::rounded_bytes, Unit::kBytes, Role::kDerived,
       "That as the allocator rounded it."},
      {"needed_bytes", &OomRow::needed_bytes, Unit::kBytes, Role::kDerived,
       "What the allocator needed of the driver for it."},
      {"device_free_bytes", &OomRow::device_free_bytes, Unit::kBytes, Role::kDerived,
       "Free on the device, as recorded."},
      {"allowed_low_bytes", &OomRow::allowed_low_bytes, Unit::kBytes, Role::kDerived,
       "The least that the process may have been allowed to reserve; missing where the driver "
       "refused."},
      {"allowed_high_bytes", &OomRow::allowed_high_bytes, Unit::kBytes, Role::kDerived,
       "The most that it may have been."},
      {"reserved_bytes", &OomRow::reserved_bytes, Unit::kBytes, Role::kDerived,
       "Segments of the allocator then."},
      {"allocated_bytes", &OomRow::allocated_bytes, Unit::kBytes, Role::kDerived,
       "Of these, blocks in use."},
      {"slack_bytes", &OomRow::slack_bytes, Unit::kBytes, Role::kDerived,
       "Of blocks in use, beyond what was requested."},
      {"pending_bytes", &OomRow::pending_bytes, Unit::kBytes, Role::kDerived,
       "Freed, but a stream may still use it."},
      {"usable_bytes", &OomRow::usable_bytes, Unit::kBytes, Role::kDerived,
       "Free blocks that would serve the request."},
      {"too_small_bytes", &OomRow::too_small_bytes, Unit::kBytes, Role::kDerived,
       "Free blocks of its pool and stream that do not."},
      {"other_pool_bytes", &OomRow::other_pool_bytes, Unit::kBytes, Role::kDerived,
       "Free among small blocks for a large request, or the other way round."},
      {"other_stream_bytes", &OomRow::other_stream_bytes, Unit::kBytes, Role::kDerived,
       "Free for other streams."},
      {"private_pool_bytes", &OomRow::private_pool_bytes, Unit::kBytes, Role::kDerived,
       "Free in pools of CUDA graphs and of torch.cuda.MemPool."},
      {"releasable_bytes", &OomRow::releasable_bytes, Unit::kBytes, Role::kDerived,
       "Whole free segments, which a retry gives back; part of the free blocks."},
      {"largest_free_bytes", &OomRow::largest_free_bytes, Unit::kBytes, Role::kDerived,
       "The largest free block."},
      {"free_blocks", &OomRow::free_blocks, Unit::kCount, Role::kDerived, "Number of free blocks."},
      {"other_processes_bytes", &OomRow::other_processes_bytes, Unit::kBytes, Role::kDerived,
       "Of other processes and of CUDA itself; missing where no message says so."},
      {"cause", &OomRow::cause, Role::kDerived,
       "process-limit, other-process, fragmentation or full; several where several hold."},
      {"retries", &OomRow::retries, Unit::kCount, Role::kDerived,
       "How often the allocator gave free segments back to serve a request, until then."},
      {"file", &OomRow::file, Role::kDerived, kFileDoc}};
};

struct OomFixRow {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  int64_t device = 0;
  std::string change = {};
  std::optional<std::string> setting = {};
  std::string fits = {};
  std::optional<int64_t> changed_bytes = {};
  std::optional<int64_t> reserved_bytes = {};
  std::optional<int64_t> spare_bytes = {};
  std::string certainty = {};

  static constexpr TableNames kTable{"oom_fixes", "What would have helped, by replays", 20};
  static constexpr ColumnOf<OomFixRow> kColumns[] = {
      {"rank", &OomFixRow::rank, Role::kKey, kRankDoc},
      {"device", &OomFixRow::device, Role::kKey, kDeviceDoc},
      {"change", &OomFixRow::change, Role::kKey, "What is changed."},
      {"setting", &OomFixRow::setting, Role::kDerived,
       "Of PYTORCH_CUDA_ALLOC_CONF; missing for changes of the program."},
      {"fits", &OomFixRow::fits, Role::kDerived,
       "yes: the request that failed is served; no; or cannot tell: it depends on the limit, which "
       "is not known exactly."},
      {"changed_bytes", &OomFixRow::changed_bytes, Unit::kBytes, Role::kDerived,
       "By how much: bytes that are not used, or that the limit is raised by."},
      {"reserved_bytes", &OomFixRow::reserved_bytes, Unit::kBytes, Role::kDerived,
       "Segments of the allocator after the request."},
      {"spare_bytes", &OomFixRow::spare_bytes, Unit::kBytes, Role::kDerived,
       "What may be reserved beyond that; missing where the limit is not known exactly."},
      {"certainty", &OomFixRow::certainty, Role::kDerived,
       "certain, or likely: the allocator's model under settings that were never recorded, or a "
       "trace that begins late."},
      {"file", &OomFixRow::file, Role::kDerived, kFileDoc}};
};

struct MemoryLiveRow {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  int64_t device = 0;
  std::string moment = {};
  std::string category = {};
  std::optional<std::string> line = {};
  std::optional<std::string> stack = {};
  int64_t blocks = 0;
  int64_t bytes = 0;
  double share = 0;

  static constexpr TableNames kTable{"memory_live", "What held memory", 20};
  static constexpr ColumnOf<MemoryLiveRow> kColumns[] = {
      {"rank", &MemoryLiveRow::rank, Role::kKey, kRankDoc},
      {"device", &MemoryLiveRow::device, Role::kKey, kDeviceDoc},
      {"moment", &MemoryLiveRow::moment, Role::kKey,
       "peak: the first event with the most allocated; oom: the last failure; end."},
      {"category", &MemoryLiveRow::category, Role::kKey,
       "parameter, gradient, optimizer state, activation, library workspace, held by the program, "
       "temporary or before recording: docs/use/postmortem-memory.md."},
      {"line", &MemoryLiveRow::line, Role::kKey,
       "The line of the program that allocated; of the backward pass its function."},
      {"stack", &MemoryLiveRow::stack, Role::kDerived,
       "Frames of the program of the largest block, innermost first, where there are several."},
      {"blocks", &MemoryLiveRow::blocks, Unit::kCount, Role::kSum, "Number of blocks."},
      {"bytes", &MemoryLiveRow::bytes, Unit::kBytes, Role::kSum, "Their bytes."},
      {"share", &MemoryLiveRow::share, Unit::kShare, Role::kDerived,
       "Of all that was allocated at that moment."},
      {"file", &MemoryLiveRow::file, Role::kDerived, kFileDoc}};
};

struct MemoryGrowthRow {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  int64_t device = 0;
  std::optional<std::string> line = {};
  std::string category = {};
  std::string growth = {};
  int64_t steps = 0;
  int64_t first_step = 0;
  int64_t bytes_per_step = 0;
  int64_t blocks_per_step = 0;
  int64_t bytes = 0;
  std::string certainty = {};

  static constexpr TableNames kTable{"memory_growth", "Memory that grows from step to step", 10};
  static constexpr ColumnOf<MemoryGrowthRow> kColumns[] = {
      {"rank", &MemoryGrowthRow::rank, Role::kKey, kRankDoc},
      {"device", &MemoryGrowthRow::device, Role::kKey, kDeviceDoc},
      {"line", &MemoryGrowthRow::line, Role::kKey, "The line of the program that allocates."},
      {"category", &MemoryGrowthRow::category, Role::kKey, "As in memory_live."},
      {"growth", &MemoryGrowthRow::growth, Role::kKey,
       "held: blocks that stay; replaced: the least that it holds in a step, in blocks that larger "
       "ones replace; peak: what a step needs beyond that and frees again."},
      {"steps", &MemoryGrowthRow::steps, Unit::kCount, Role::kDerived,
       "The last steps in a row in which it grew; parts of the time where no steps are marked."},
      {"first_step", &MemoryGrowthRow::first_step, Unit::kCount, Role::kDerived,
       "The first of these, counted from 1."},
      {"bytes_per_step", &MemoryGrowthRow::bytes_per_step, Unit::kBytes, Role::kDerived,
       "Median of these steps."},
      {"blocks_per_step", &MemoryGrowthRow::blocks_per_step, Unit::kCount, Role::kDerived,
       "Median of these steps."},
      {"bytes", &MemoryGrowthRow::bytes, Unit::kBytes, Role::kDerived, "In all of them."},
      {"certainty", &MemoryGrowthRow::certainty, Role::kDerived,
       "certain by marked steps; likely by parts of the time, of what is replaced or freed again, "
       "and of a line that fell by as much before."},
      {"file", &MemoryGrowthRow::file, Role::kDerived, kFileDoc}};
};

struct AllocatorReplayRow {
  std::optional<int64_t> rank = {};
  std::optional<std::string> file = {};
  int64_t device = 0;
  int64_t events = 0;
  bool complete = false;
  int64_t allocations = 0;
  int64_t predicted = 0;
  int64_t forced = 0;
  int64_t start_blocks = 0;
  int64_t start_inferred = 0;
  bool segments_equal = false;
  int64_t reserved_difference_bytes = 0;
  int64_t allocated_difference_bytes = 0;

  static constexpr TableNames kTable{"allocator_replay",
                                     "How well the model of the allocator fits the recording", 10};
  static constexpr ColumnOf<AllocatorReplayRow> kColumns[] = {
      {"rank", &AllocatorReplayRow::rank, Role::kKey, kRankDoc},
      {"device", &AllocatorReplayRow::device, Role::kKey, kDeviceDoc},
      {"events", &AllocatorReplayRow::events, Unit::kCount, Role::kDerived, "Events recorded."},
      {"complete", &AllocatorReplayRow::complete, Role::kDerived,
       "Whether the recording begins before anything was allocated."},
      {"allocations", &AllocatorReplayRow::allocations, Unit::kCount, Role::kDerived,
       "Blocks that were allocated."},
      {"predicted", &AllocatorReplayRow::predicted, Unit::kCount, Role::kDerived,
       "Of these, whose address is what the model says."},
      {"forced", &AllocatorReplayRow::forced, Unit::kCount, Role::kDerived,
       "Of these, whose address was taken from the recording."},
      {"start_blocks", &AllocatorReplayRow::start_blocks, Unit::kCount, Role::kDerived,
       "Blocks in use before the first event."},
      {"start_inferred", &AllocatorReplayRow::start_inferred, Unit::kCount, Role::kDerived,
       "Of these, whose size follows from what was requested."},
      {"segments_equal", &AllocatorReplayRow::segments_equal, Role::kDerived,
       "Whether all blocks at the end are where the snapshot has them."},
      {"reserved_difference_bytes", &AllocatorReplayRow::reserved_difference_bytes, Unit::kBytes,
       Role::kDerived, "Reserved at the end, less that of the snapshot."},
      {"allocated_difference_bytes", &AllocatorReplayRow::allocated_difference_bytes, Unit::kBytes,
       Role::kDerived, "Allocated at the end, less that of the snapshot."},
      {"file", &AllocatorReplayRow::file, Role::kDerived, kFileDoc}};
};

}  // namespace borescope::internal::postmortem
