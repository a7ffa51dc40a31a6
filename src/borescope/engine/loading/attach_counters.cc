#include "borescope/engine/loading/attach_counters.h"

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/analysis/measures/counter_join/counter_join.h"
#include "borescope/base/io/paths.h"
#include "borescope/engine/inputs/counter_inputs.h"

namespace borescope::internal {

namespace {

// A name of OpenOptions::counters, understood.
struct NamedReports {
  std::optional<int64_t> rank;
  std::string path;
};

Result<NamedReports> Understand(const std::string& named) {
  const size_t equals = named.find('=');
  if (equals == std::string::npos) return NamedReports{{}, named};
  BS_ASSIGN(const FileKind kind, KindOf(named));
  if (kind != FileKind::kNothing) return NamedReports{{}, named};
  int64_t rank = 0;
  const char* const end = named.data() + equals;
  const auto parsed = std::from_chars(named.data(), end, rank);
  const bool is_rank = parsed.ec == std::errc() && parsed.ptr == end && rank >= 0;
  return is_rank ? NamedReports{rank, named.substr(equals + 1)} : NamedReports{{}, named};
}

}  // namespace

Result<void> FindCounters(std::span<const std::string> named, bool of_any_device,
                          std::vector<InputFile>& files) {
  if (named.empty() || files.empty()) return {};
  const auto counters = std::make_shared<CountersOfRun>();
  counters->of_any_device = of_any_device;
  for (const std::string& name : named) {
    BS_ASSIGN(const NamedReports understood, Understand(name));
    BS_ASSIGN(std::vector<CounterReport> reports,
              ReadCounters(std::span(&understood.path, 1), counters->diagnostics));
    for (CounterReport& report : reports) {
      counters->reports.push_back(
          {understood.rank, std::make_shared<const CounterReport>(std::move(report))});
    }
  }
  for (InputFile& file : files) {
    file.counters = counters;
  }
  files.front().tells_of_counters = true;
  return {};
}

void GiveCounters(const InputFile& input, int64_t rank, SharedMeasures& shared,
                  Diagnostics& diagnostics) {
  if (input.counters == nullptr) return;
  GivenReports given{.of_any_device = input.counters->of_any_device};
  for (const ReportOfRank& report : input.counters->reports) {
    if (!report.rank.has_value() || report.rank == rank) given.reports.push_back(report.report);
  }
  GiveReports(shared, std::move(given));
  if (input.tells_of_counters) diagnostics.Merge(input.counters->diagnostics);
}

}  // namespace borescope::internal
