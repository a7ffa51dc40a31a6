// What one rank brings to its run in `diff`: counts and summed durations, by name, by what device
// work belongs to, and by where kernels were launched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/analysis/core/selection/selection.h"
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

struct NameSumRow {
  std::string_view side = {};
  std::string_view name = {};
  int64_t count = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"diff", ""};
  static constexpr ColumnOf<NameSumRow> kColumns[] = {
      {"side", &NameSumRow::side, Role::kKey, ""},
      {"name", &NameSumRow::name, Role::kKey, ""},
      {"count", &NameSumRow::count, Unit::kCount, Role::kSum, ""},
      {"total_ns", &NameSumRow::total_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// The size of a run; also what is shown about both.
struct RunSizeRow {
  std::string_view run = {};  // empty until two are compared
  int64_t ranks = 0;
  int64_t steps = 0;
  int64_t host_events = 0;
  int64_t device_events = 0;
  int64_t inherited_events = 0;
  int64_t inherited_ns = 0;
  int64_t span_ns = 0;

  static constexpr TableNames kTable{"diff_runs", "The runs"};
  static constexpr ColumnOf<RunSizeRow> kColumns[] = {
      {"run", &RunSizeRow::run, Role::kKey, "base or test."},
      {"ranks", &RunSizeRow::ranks, Unit::kCount, Role::kSum, "Ranks compared."},
      {"steps", &RunSizeRow::steps, Unit::kCount, Role::kSum,
       "Selected training steps of all of them."},
      {"host_events", &RunSizeRow::host_events, Unit::kCount, Role::kSum, "Selected host rows."},
      {"device_events", &RunSizeRow::device_events, Unit::kCount, Role::kSum,
       "Selected device work that was launched in the recording: this is compared."},
      {"inherited_events", &RunSizeRow::inherited_events, Unit::kCount, Role::kSum,
       "Selected device work that was launched before the recording began: how much there is says "
       "nothing of the program, so that it is in no other table."},
      {"inherited_ns", &RunSizeRow::inherited_ns, Unit::kNanoseconds, Role::kSum,
       "Its summed durations."},
      {"span_ns", &RunSizeRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Selected time of all ranks."}};
};

// Every key has all device work but what was launched before the recording.
struct WorkSumRow {
  WorkKey key = WorkKey::kClass;
  std::string name = {};
  int64_t count = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"diff_work", ""};
  static constexpr ColumnOf<WorkSumRow> kColumns[] = {
      {"key", EnumText<&WorkSumRow::key, WorkKeyName, WorkKey::kCount>(), Role::kKey, ""},
      {"name", &WorkSumRow::name, Role::kKey, ""},
      {"count", &WorkSumRow::count, Unit::kCount, Role::kSum, ""},
      {"total_ns", &WorkSumRow::total_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// The kernels of operators.
struct LaunchSumRow {
  std::string_view op = {};
  std::optional<std::string_view> shapes = {};
  std::string name = {};
  int64_t count = 0;
  int64_t total_ns = 0;

  static constexpr TableNames kTable{"diff_launches", ""};
  static constexpr ColumnOf<LaunchSumRow> kColumns[] = {
      {"operator", &LaunchSumRow::op, Role::kKey, ""},
      {"shapes", &LaunchSumRow::shapes, Role::kKey, ""},
      {"name", &LaunchSumRow::name, Role::kKey, ""},
      {"count", &LaunchSumRow::count, Unit::kCount, Role::kSum, ""},
      {"total_ns", &LaunchSumRow::total_ns, Unit::kNanoseconds, Role::kSum, ""}};
};

// The tables of NameSumRow, RunSizeRow, WorkSumRow and LaunchSumRow.
Tables SumRun(const RankView& view, const Selected& selected, bool short_names);

// The name under which something of one run is found in another one.

// Without what changes from run to run although the same thing ran:
//   steps               ProfilerStep#12 -> ProfilerStep#*, and all numbers of a server's step
//   addresses           "<function f at 0x7f12ab34cd56>" -> "<function f at 0x*>"
//   lines of functions  "model.py(821): forward" -> "model.py: forward", of Python frames only
std::string MatchedHostName(std::string_view name, HostKind kind);

// The name of device work, without addresses.
std::string MatchedWorkName(std::string_view name);

}  // namespace borescope::internal
