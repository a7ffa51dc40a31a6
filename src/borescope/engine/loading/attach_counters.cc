#include "borescope/engine/loading/attach_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
  counters->files = files.size();
  for (const std::string& name : named) {
    BS_ASSIGN(const NamedReports understood, Understand(name));
    OddReports& odd = counters->odd.emplace_back(OddReports{understood.path, {}});
    BS_ASSIGN(std::vector<CounterReport> reports,
              ReadCounters(std::span(&understood.path, 1), odd.diagnostics));
    for (CounterReport& report : reports) {
      counters->reports.push_back(
          {understood.rank, std::make_shared<const CounterReport>(std::move(report))});
    }
  }
  for (InputFile& file : files) {
    file.counters = counters;
  }
  return {};
}

bool CountersOfRun::go_by_rank() const {
  return std::any_of(reports.begin(), reports.end(), [](const ReportOfRank& given) {
    const std::vector<CountedKernel>& kernels = given.report->kernels;
    return given.rank.has_value() ||
           std::any_of(kernels.begin(), kernels.end(), [&](const CountedKernel& kernel) {
             return kernel.pid != kernels.front().pid;
           });
  });
}

Result<void> CheckRanksOfCounters(const CountersOfRun& counters, std::span<const int64_t> ranks) {
  for (const ReportOfRank& given : counters.reports) {
    if (given.rank.has_value() && !std::binary_search(ranks.begin(), ranks.end(), *given.rank)) {
      constexpr size_t kShown = 16;
      return UsageError(
          fmt::format("`counters` gives a report for rank {}, which this run does not have",
                      *given.rank),
          fmt::format("its ranks are {}{}",
                      fmt::join(ranks.first(std::min(ranks.size(), kShown)), ", "),
                      ranks.size() > kShown ? ", …" : ""),
          "counters");
    }
  }
  return {};
}

void GiveCounters(const CountersOfRun* counters, int64_t rank, const Trace& trace,
                  SharedMeasures& shared, Diagnostics& diagnostics) {
  if (counters == nullptr) return;
  GivenReports given{.of_any_device = counters->of_any_device};
  for (const ReportOfRank& report : counters->reports) {
    if (!report.rank.has_value() || report.rank == rank) given.reports.push_back(report.report);
  }
  if (!given.empty() && trace.ranges().size() > 0) {
    diagnostics.CountMany(
        Diag::kUnreadRows, given.reports.size(), Diagnostics::kNoByte,
        fmt::format("the report of counters {}, as this recording has counters of its own",
                    given.reports.front()->file));
  }
  given.when_joined = [&trace, &diagnostics](const RankCounters& joined) {
    std::string words;
    for (const DeviceJoin& join : joined.joins) {
      for (const std::string& remedy : RemediesOf(joined, join, trace)) {
        words += (words.empty() ? "" : ". ") + remedy;
      }
    }
    if (!words.empty()) diagnostics.Count(Diag::kMissingData, Diagnostics::kNoByte, words);
  };
  GiveReports(shared, std::move(given));
}

}  // namespace borescope::internal
