#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/reduce.h"

namespace borescope::internal {

// Tables of --compat rpd: what the views of an .rpd file (rocmProfileData) say of the same
// recording, quirks included; docs/use/compat-rpd.md.
//
//   top.cc      views top and op
//   busy.cc     view busy
//   kernels.cc  views ktop and kernel
//   copies.cc   views copy and copyop
//   calls.cc    view api
//
// Columns have the names of the views, less those that a recording does not keep (ids of device
// work, sequence numbers); views of rows have the rank in front. Times are nanoseconds unless the
// name says otherwise.

Result<Tables> MapRpdTop(const RankView& view, const Params& params);
Result<Tables> FinishRpdTop(Tables tables, const Params& params);
inline constexpr Pipeline kRpdTop{.map = MapRpdTop, .reduce = ReduceByRank, .finish = FinishRpdTop};

Result<Tables> MapRpdBusy(const RankView& view, const Params& params);
inline constexpr Pipeline kRpdBusy{.map = MapRpdBusy, .reduce = ConcatTables};

Result<Tables> MapRpdKernels(const RankView& view, const Params& params);
Result<Tables> FinishRpdKernels(Tables tables, const Params& params);
inline constexpr Pipeline kRpdKernels{
    .map = MapRpdKernels, .reduce = ReduceByRank, .finish = FinishRpdKernels};

Result<Tables> MapRpdCopies(const RankView& view, const Params& params);
inline constexpr Pipeline kRpdCopies{.map = MapRpdCopies, .reduce = ConcatTables};

Result<Tables> MapRpdCalls(const RankView& view, const Params& params);
inline constexpr Pipeline kRpdCalls{.map = MapRpdCalls, .reduce = ConcatTables};

// What the views top and ktop add up by name.
struct RpdTotals {
  int64_t calls = 0;
  int64_t total_ns = 0;
  int64_t whole_ns = 0;  // the part of what `Percentage` is of
};

// The columns Name, calls, total and whole of a table that is merged by name.
void AddRpdTotals(Table& table);
void PushRpdTotals(Table& table, std::string_view name, const RpdTotals& totals);

enum class RpdRounding : bool {
  kNew,  // TotalDuration_us; Ave_us, whole nanoseconds / 1000.0
  kOld,  // TotalDuration and Ave, whole microseconds
};

// The view: by total, largest first, then by name.
Table FinishRpdTotals(const Table& merged, RpdRounding rounding);

// Device work of the rank by start; at one time in the order of the streams.
std::vector<DeviceId> RpdOps(const RankView& view);

// Integer columns of a view without a unit of their own.
void AddRpdInts(Table& table, std::initializer_list<std::string_view> names);

}  // namespace borescope::internal
