// The checks of `borescope doctor`. A check looks at one rank and counts cases; its row in one of
// the arrays below says what the count means. To add one: a function and a row in the file of its
// theme.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/base/diagnostics.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

// A row of the answer.
struct DoctorRow {
  std::optional<int64_t> rank = {};
  std::string check = {};
  std::string_view severity = {};
  int64_t count = 0;
  std::optional<double> share = {};
  std::optional<std::string> first = {};
  std::optional<std::string> help = {};

  static constexpr TableNames kTable{"quality", "Quality of the recording"};
  static constexpr ColumnOf<DoctorRow> kColumns[] = {
      {"rank", &DoctorRow::rank, Role::kKey,
       "Rank of the process in the job; missing for checks across ranks."},
      {"check", &DoctorRow::check, Role::kKey, "What was looked for."},
      {"severity", &DoctorRow::severity, Role::kDerived,
       "ok, info, warning, error, or n/a: nothing to look at."},
      {"count", &DoctorRow::count, Unit::kCount, Role::kSum, "Number of cases found."},
      {"share", &DoctorRow::share, Unit::kShare, Role::kDerived,
       "Affected part of device time or of events, as the help says."},
      {"first", &DoctorRow::first, Role::kDerived, "The first case."},
      {"help", &DoctorRow::help, Role::kDerived, "What it means and what to do."}};
};

// The worst first.
void SortQuality(std::vector<DoctorRow>& rows);

struct CheckOutcome {
  int64_t count = 0;            // 0: passed
  std::optional<double> share;  // part of device time or of events, as the check's help says
  std::string first;            // the first case
  bool applies = true;          // false: nothing of the kind could be in the recording
  std::optional<Severity> severity = {};  // instead of the check's
};

// Nothing of the kind could be in the recording.
inline CheckOutcome NotApplicable() {
  CheckOutcome outcome;
  outcome.applies = false;
  return outcome;
}

struct QualityCheck {
  std::string_view name;  // stable slug; the same as a diagnostic's where both count one thing
  Severity severity;      // when the count is not 0
  // What it means and what to do; the latter, as PyTorch's profiler has it, in `remedy` where other
  // profilers have another.
  std::string_view help;
  CheckOutcome (*run)(const RankView& view);
  std::string_view remedy = {};
  MissingData lack = MissingData::kNone;
};

std::span<const QualityCheck> LinkChecks();    // device events and their launches, operators, waits
std::span<const QualityCheck> TimeChecks();    // durations, overlaps, gaps, nesting
std::span<const QualityCheck> RecordChecks();  // what the profiler was asked to record

// What of a recording may say who, where and with which secrets: kinds and counts, never the
// values. Texts count each once; of what is not read, members and rows.
std::vector<SensitiveCount> CountSensitive(const Trace& trace);
std::string SensitiveHelp(std::string_view what);

// "name, ts 12.345 us, correlation 7": how the first case is shown.
std::string Describe(const RankView& view, HostId id);
std::string Describe(const RankView& view, DeviceId id);

// Counts the device work for which `is_case` holds; share: part of all device work time.
template <class Predicate>
CheckOutcome CountDeviceCases(const RankView& view, Predicate is_case) {
  const DeviceEvents& device = view.trace.device();
  CheckOutcome outcome;
  int64_t all_ns = 0;
  int64_t case_ns = 0;
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    all_ns = AddSaturating(all_ns, device.dur_ns[row]);
    if (is_case(DeviceId{row})) {
      case_ns = AddSaturating(case_ns, device.dur_ns[row]);
      if (outcome.count++ == 0) {
        outcome.first = Describe(view, DeviceId{row});
      }
    }
  }
  outcome.share = all_ns == 0 ? 0.0 : static_cast<double>(case_ns) / static_cast<double>(all_ns);
  return outcome;
}

// Counts the host rows for which `is_case` holds; share: part of all host rows.
template <class Predicate>
CheckOutcome CountHostCases(const RankView& view, Predicate is_case) {
  const uint32_t rows = static_cast<uint32_t>(view.trace.host().size());
  CheckOutcome outcome;
  for (uint32_t row = 0; row < rows; ++row) {
    if (is_case(HostId{row}) && outcome.count++ == 0) {
      outcome.first = Describe(view, HostId{row});
    }
  }
  outcome.share = rows == 0 ? 0.0 : static_cast<double>(outcome.count) / rows;
  return outcome;
}

}  // namespace borescope::internal
