// What one rank brings to its run in `diff`: counts and summed times, by name, by what device work
// belongs to, and by where kernels were launched; and what devices did in its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/base/result.h"
#include "borescope/table/typed_rows.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

inline constexpr std::string_view kHostSide = "host";
inline constexpr std::string_view kDeviceSide = "device";

// What device work is grouped by, each group a table of its own.
enum class WorkKey : uint8_t { kClass, kPhase, kAnnotation, kModule, kOperator, kCount };
std::string_view WorkKeyName(WorkKey key);

// Names of work that belongs to none.
inline constexpr std::string_view kNoAnnotation = "(no annotation)";
inline constexpr std::string_view kNoModule = "(no module)";

// The rows of the tables of a run; all their columns are keys or sums.

// Sums of what belongs to steps are kept apart from all else, as runs are compared by step where
// both have steps.

struct NameSumRow {
  bool in_steps = false;
  std::string_view side = {};
  std::string_view name = {};
  int64_t count = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"diff", ""};
  static constexpr ColumnOf<NameSumRow> kColumns[] = {
      {"in_steps", &NameSumRow::in_steps, Role::kKey, ""},
      {"side", &NameSumRow::side, Role::kKey, ""},
      {"name", &NameSumRow::name, Role::kKey, ""},
      {"count", &NameSumRow::count, Unit::kCount, Role::kSum, ""},
      {"total_ns", &NameSumRow::total_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// The size of a run, and of how much it is not compared.
struct RunSizeRow {
  int64_t ranks = 0;
  int64_t steps = 0;
  int64_t tokens = 0;
  int64_t inherited_events = 0;
  int64_t inherited_ns = 0;
  int64_t span_ns = 0;

  static constexpr TableNames kTable{"diff_size", ""};
  static constexpr ColumnOf<RunSizeRow> kColumns[] = {
      {"ranks", &RunSizeRow::ranks, Unit::kCount, Role::kSum, ""},
      {"steps", &RunSizeRow::steps, Unit::kCount, Role::kSum, ""},
      {"tokens", &RunSizeRow::tokens, Unit::kCount, Role::kSum, ""},
      {"inherited_events", &RunSizeRow::inherited_events, Unit::kCount, Role::kSum, ""},
      {"inherited_ns", &RunSizeRow::inherited_ns, Unit::kNanoseconds, Role::kSum, ""},
      {"span_ns", &RunSizeRow::span_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// What devices did in some windows of time: in the steps, each from the completion of the one
// before to its own, or in all selected time. The parts add up to the span.
struct DeviceTimeRow {
  bool in_steps = false;
  int64_t windows = 0;  // steps, or selected time, of each device
  int64_t span_ns = 0;
  int64_t compute_ns = 0;
  int64_t exposed_comm_ns = 0;
  int64_t exposed_copy_ns = 0;
  int64_t idle_ns = 0;
  int64_t squares_low = 0;  // the sum of the squared spans
  int64_t squares_high = 0;

  static constexpr TableNames kTable{"diff_device_time", ""};
  static constexpr ColumnOf<DeviceTimeRow> kColumns[] = {
      {"in_steps", &DeviceTimeRow::in_steps, Role::kKey, ""},
      {"windows", &DeviceTimeRow::windows, Unit::kCount, Role::kSum, ""},
      {"span_ns", &DeviceTimeRow::span_ns, Unit::kNanoseconds, Role::kSum, ""},
      {"compute_ns", &DeviceTimeRow::compute_ns, Unit::kNanoseconds, Role::kSum, ""},
      {"exposed_comm_ns", &DeviceTimeRow::exposed_comm_ns, Unit::kNanoseconds, Role::kSum, ""},
      {"exposed_copy_ns", &DeviceTimeRow::exposed_copy_ns, Unit::kNanoseconds, Role::kSum, ""},
      {"idle_ns", &DeviceTimeRow::idle_ns, Unit::kNanoseconds, Role::kSum, ""},
      {"squares_low", &DeviceTimeRow::squares_low, Role::kSum, ""},
      {"squares_high", &DeviceTimeRow::squares_high, Role::kSum, ""}};
};

// Every key has all device work but what was launched before the recording.
struct WorkSumRow {
  bool in_steps = false;
  WorkKey key = WorkKey::kClass;
  std::string name = {};
  int64_t count = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"diff_work", ""};
  static constexpr ColumnOf<WorkSumRow> kColumns[] = {
      {"in_steps", &WorkSumRow::in_steps, Role::kKey, ""},
      {"key", EnumText<&WorkSumRow::key, WorkKeyName, WorkKey::kCount>(), Role::kKey, ""},
      {"name", &WorkSumRow::name, Role::kKey, ""},
      {"count", &WorkSumRow::count, Unit::kCount, Role::kSum, ""},
      {"total_ns", &WorkSumRow::total_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// The kernels of operators.
struct LaunchSumRow {
  bool in_steps = false;
  std::string_view op = {};
  std::optional<std::string_view> shapes = {};
  std::string name = {};
  int64_t count = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"diff_launches", ""};
  static constexpr ColumnOf<LaunchSumRow> kColumns[] = {
      {"in_steps", &LaunchSumRow::in_steps, Role::kKey, ""},
      {"operator", &LaunchSumRow::op, Role::kKey, ""},
      {"shapes", &LaunchSumRow::shapes, Role::kKey, ""},
      {"name", &LaunchSumRow::name, Role::kKey, ""},
      {"count", &LaunchSumRow::count, Unit::kCount, Role::kSum, ""},
      {"total_ns", &LaunchSumRow::total_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// The tables of NameSumRow, RunSizeRow, DeviceTimeRow, WorkSumRow and LaunchSumRow. The time of a
// host row is its own, without that of rows within it, so that the times of a thread add up to no
// more than the time there is.
Result<Tables> SumRun(const RankView& view, const Selected& selected, const Params& params);

// The name under which something of one run is found in another one.

// Without what changes from run to run although the same thing ran:
//   steps               ProfilerStep#12 -> ProfilerStep#*, and all numbers of a server's step
//   addresses           "<function f at 0x7f12ab34cd56>" -> "<function f at 0x*>"
//   lines of functions  "model.py(821): forward" -> "model.py: forward", of Python frames only
std::string MatchedHostName(std::string_view name, HostKind kind);

// The name of device work, without addresses.
std::string MatchedWorkName(std::string_view name);

}  // namespace borescope::internal
