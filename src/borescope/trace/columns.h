// Row-generic work on column structs, written once: append with offset, permute, shrink. Each table
// lists its columns in exactly one place, the ForEachColumn overload below.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "borescope/base/parallel.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

template <class Fn, class... T>
void ForEachColumn(Fn&& fn, T&... tables) {
  auto visit = [&](auto member) { fn(tables.*member...); };
  ForEachMember(visit, static_cast<const std::common_type_t<T...>*>(nullptr));
}

// The member lists. `visit` is called with a pointer to each column member.
template <class V>
void ForEachMember(V& visit, const Tracks*) {
  using T = Tracks;
  visit(&T::kind), visit(&T::pid), visit(&T::tid), visit(&T::process), visit(&T::is_async),
      visit(&T::name), visit(&T::first_row), visit(&T::end_row);
}
template <class V>
void ForEachMember(V& visit, const HostEvents*) {
  using T = HostEvents;
  visit(&T::ts_ns), visit(&T::dur_ns), visit(&T::name), visit(&T::track), visit(&T::kind),
      visit(&T::detail), visit(&T::position);
}
template <class V>
void ForEachMember(V& visit, const DeviceEvents*) {
  using T = DeviceEvents;
  visit(&T::ts_ns), visit(&T::dur_ns), visit(&T::name), visit(&T::track), visit(&T::kind),
      visit(&T::correlation), visit(&T::external_id), visit(&T::detail), visit(&T::position);
}
template <class V>
void ForEachMember(V& visit, const Ops*) {
  using T = Ops;
  visit(&T::external_id), visit(&T::record_function_id), visit(&T::sequence),
      visit(&T::forward_thread), visit(&T::input_dims), visit(&T::input_types),
      visit(&T::input_strides), visit(&T::concrete_inputs), visit(&T::collective),
      visit(&T::triton);
}
template <class V>
void ForEachMember(V& visit, const TritonLaunches*) {
  using T = TritonLaunches;
  visit(&T::backend), visit(&T::kernel_file), visit(&T::bytes), visit(&T::flops);
}
template <class V>
void ForEachMember(V& visit, const RuntimeCalls*) {
  using T = RuntimeCalls;
  visit(&T::correlation), visit(&T::external_id), visit(&T::domain), visit(&T::args),
      visit(&T::kernel);
}
template <class V>
void ForEachMember(V& visit, const Kernels*) {
  using T = Kernels;
  visit(&T::grid_x), visit(&T::grid_y), visit(&T::grid_z), visit(&T::block_x), visit(&T::block_y),
      visit(&T::block_z), visit(&T::registers), visit(&T::shared_bytes),
      visit(&T::occupancy_percent), visit(&T::private_bytes), visit(&T::graph_node_id),
      visit(&T::stream_handle), visit(&T::has_stream), visit(&T::collective);
}
template <class V>
void ForEachMember(V& visit, const Copies*) {
  visit(&Copies::bytes), visit(&Copies::gbps), visit(&Copies::call);
}
template <class V>
void ForEachMember(V& visit, const CopyCalls*) {
  using T = CopyCalls;
  visit(&T::kind), visit(&T::stream_handle), visit(&T::source), visit(&T::target),
      visit(&T::source_device), visit(&T::target_device), visit(&T::width), visit(&T::height),
      visit(&T::is_sync), visit(&T::is_pinned);
}
template <class V>
void ForEachMember(V& visit, const Samples*) {
  using T = Samples;
  visit(&T::ts_ns), visit(&T::end_ns), visit(&T::device_type), visit(&T::device), visit(&T::name),
      visit(&T::value);
}
template <class V>
void ForEachMember(V& visit, const Pauses*) {
  visit(&Pauses::ts_ns), visit(&Pauses::end_ns), visit(&Pauses::track);
}
template <class V>
void ForEachMember(V& visit, const StackSamples*) {
  visit(&StackSamples::ts_ns), visit(&StackSamples::track), visit(&StackSamples::frame);
}
template <class V>
void ForEachMember(V& visit, const StackFrames*) {
  visit(&StackFrames::name), visit(&StackFrames::parent);
}
template <class V>
void ForEachMember(V& visit, const CallStacks*) {
  visit(&CallStacks::call), visit(&CallStacks::frame);
}
template <class V>
void ForEachMember(V& visit, const RangeDomains*) {
  visit(&RangeDomains::name), visit(&RangeDomains::domain);
}
template <class V>
void ForEachMember(V& visit, const Syncs*) {
  using T = Syncs;
  visit(&T::stream), visit(&T::wait_on_stream), visit(&T::wait_on_record_correlation);
}
template <class V>
void ForEachMember(V& visit, const Collectives*) {
  using T = Collectives;
  visit(&T::collective), visit(&T::dtype), visit(&T::group), visit(&T::group_desc),
      visit(&T::ranks), visit(&T::in_elems), visit(&T::out_elems), visit(&T::group_size),
      visit(&T::sequence);
}
template <class V>
void ForEachMember(V& visit, const MemoryEvents*) {
  using T = MemoryEvents;
  visit(&T::ts_ns), visit(&T::track), visit(&T::device_type), visit(&T::device), visit(&T::address),
      visit(&T::bytes), visit(&T::category), visit(&T::total_allocated), visit(&T::total_reserved);
}
template <class V>
void ForEachMember(V& visit, const ProfilerRanges*) {
  visit(&ProfilerRanges::first_metric), visit(&ProfilerRanges::end_metric);
}
template <class V>
void ForEachMember(V& visit, const Metrics*) {
  visit(&Metrics::name), visit(&Metrics::value);
}
template <class V>
void ForEachMember(V& visit, const Flows*) {
  using T = Flows;
  visit(&T::ts_ns), visit(&T::track), visit(&T::id), visit(&T::is_start);
}

// Maps ids of a part to ids of the whole.
struct IdMap {
  std::span<const StringId> strings;
  std::span<const TrackId> tracks;

  StringId operator()(StringId id) const { return id.valid() ? strings[id.value] : id; }
  TrackId operator()(TrackId id) const { return tracks[id.value]; }
  template <class T>
  T operator()(T value) const {
    return value;
  }
};

// Appends `part` to `whole`, translating string and track ids. Detail columns are the caller's job.
// Columns of zeros, such as texts that were not recorded, stay without memory. (The number 0 is the
// empty text everywhere.)
template <class Table>
void AppendRows(Table& whole, const Table& part, const IdMap& map) {
  ForEachColumn(
      [&](auto& to, const auto& from) {
        using Value = typename std::remove_reference_t<decltype(to)>::value_type;
        if (!std::is_same_v<Value, TrackId> && AreZeros(from.data(), from.size() * sizeof(Value))) {
          to.AppendZeros(from.size());
          return;
        }
        const size_t old_size = to.size();
        to.ResizeForOverwrite(old_size + from.size());
        std::transform(from.begin(), from.end(), to.begin() + old_size, map);
      },
      whole, part);
}

// More threads would cost more memory than they save time.
inline constexpr int kMostSpareColumns = 4;

// Reorders one column: new row i is old row order[i]. A column that is not recorded stays empty.
template <class T>
void PermuteColumn(ColumnData<T>& column, std::span<const uint32_t> order) {
  if (column.empty()) {
    return;
  }
  ColumnData<T> moved;
  moved.ResizeForOverwrite(column.size());
  for (size_t i = 0; i < order.size(); ++i) {
    moved[i] = column[order[i]];
  }
  column.swap(moved);
}

// Reorders all columns, as many at once as there are threads; each temporarily needs a copy.
template <class Table>
void PermuteRows(Table& table, std::span<const uint32_t> order, int threads) {
  std::vector<std::function<void()>> columns;
  ForEachColumn(
      [&](auto& column) { columns.push_back([&column, order] { PermuteColumn(column, order); }); },
      table);
  ParallelFor(columns.size(), std::min(threads, kMostSpareColumns),
              [&](size_t column) { columns[column](); });
}

template <class T>
T MissingValue() {
  if constexpr (std::is_same_v<T, StringId>) {
    return StringId{0};
  } else if constexpr (std::is_same_v<T, SeldomNumber> || std::is_same_v<T, SeldomDetail>) {
    return T();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return kMissing;
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return kNoDetail;
  } else {
    return T(-1);
  }
}

// Adds a row of a detail table in which nothing is recorded yet, and returns its number.
template <class Table>
uint32_t AddMissingRow(Table& table) {
  ForEachColumn(
      [](auto& column) {
        using Value = typename std::remove_reference_t<decltype(column)>::value_type;
        column.push_back(MissingValue<Value>());
      },
      table);
  return static_cast<uint32_t>(table.size() - 1);
}

// Copies the values of columns that are views, so that rows can be changed.
template <class Table>
void OwnColumns(Table& table) {
  ForEachColumn([](auto& column) { column.Own(); }, table);
}

// Gives back what columns have room for and do not use.
template <class Table>
void ShrinkColumns(Table& table) {
  ForEachColumn([](auto& column) { column.shrink_to_fit(); }, table);
}

template <class Table>
void ReserveRows(Table& table, size_t rows) {
  ForEachColumn([&](auto& column) { column.reserve(rows); }, table);
}

}  // namespace borescope::internal
