#include "borescope/analysis/registry.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include "borescope/analysis/analyses.h"

namespace borescope {
namespace {

constexpr std::string_view kBreakdownKeys[] = {"step", "stream"};
constexpr std::string_view kKernelKeys[] = {"rank", "step", "gpu", "stream", "phase", "op"};
constexpr std::string_view kOpKeys[] = {"rank", "step", "phase", "shape", "dtype"};

// Order = order in --help. To add an analysis: its file, its functions in analyses.h, a row here.
constexpr AnalysisSpec kAnalyses[] = {
    {.name = "info",
     .summary = "what was recorded: ranks, devices, events, steps, time span",
     .example = "borescope info trace.json.gz",
     .needs = Needs::kNothing,
     .by = {},
     .takes_selection = false,
     .compat_hta = false,
     .takes_all = false,
     .map = MapInfo,
     .reduce = ConcatFindings,
     .finish = nullptr},
    {.name = "doctor",
     .summary = "how far the trace can be trusted: checks with counts and remedies",
     .example = "borescope doctor run/",
     .needs = Needs::kNothing,
     .by = {},
     .takes_selection = false,
     .compat_hta = false,
     .takes_all = false,
     .map = MapDoctor,
     .reduce = ConcatFindings,
     .finish = FinishDoctor},
    {.name = "summary",
     .summary = "one page: what costs the time, with the numbers behind it",
     .example = "borescope summary run/",
     .needs = Needs::kNothing,
     .by = {},
     .takes_selection = true,
     .compat_hta = false,
     .takes_all = false,
     .map = MapSummary,
     .reduce = ReduceSummary,
     .finish = FinishSummary},
    {.name = "breakdown",
     .summary = "compute, exposed communication, exposed copies and idle time per device",
     .example = "borescope breakdown run/ --by step",
     .needs = Needs::kDeviceEvents,
     .by = kBreakdownKeys,
     .takes_selection = true,
     .compat_hta = true,
     .takes_all = false,
     .map = MapBreakdown,
     .reduce = ConcatFindings,
     .finish = nullptr},
    {.name = "kernels",
     .summary = "device time per kernel and per class of kernels",
     .example = "borescope kernels trace.json.gz --top 20",
     .needs = Needs::kDeviceEvents,
     .by = kKernelKeys,
     .takes_selection = true,
     .compat_hta = true,
     .takes_all = true,
     .map = MapKernels,
     .reduce = MergeFindings,
     .finish = FinishKernels},
    {.name = "ops",
     .summary = "host and device time per framework operator",
     .example = "borescope ops trace.json.gz --by shape --top 20",
     .needs = Needs::kOps,
     .by = kOpKeys,
     .takes_selection = true,
     .compat_hta = false,
     .takes_all = false,
     .map = MapOps,
     .reduce = MergeFindings,
     .finish = FinishOps},
    {.name = "steps",
     .summary = "span, busy and idle time of every training step",
     .example = "borescope steps run/",
     .needs = Needs::kSteps,
     .by = {},
     .takes_selection = true,
     .compat_hta = false,
     .takes_all = false,
     .map = MapSteps,
     .reduce = ConcatFindings,
     .finish = nullptr},
};

Error BadRange(std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          "\"" + std::string(text) + "\" is no list of numbers; write 0 or 0,3 or 2..5"};
}

bool ParseNumber(std::string_view text, int64_t& number) {
  const char* end = std::to_address(text.end());
  const auto [stop, code] = std::from_chars(std::to_address(text.begin()), end, number);
  return code == std::errc() && stop == end;
}

// "7" or "2..5".
bool ParseRange(std::string_view text, std::pair<int64_t, int64_t>& range) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return ParseNumber(text, range.first) && ParseNumber(text, range.second);
  }
  return ParseNumber(text.substr(0, dots), range.first) &&
         ParseNumber(text.substr(dots + 2), range.second) && range.first <= range.second;
}

}  // namespace

bool NumberRanges::Contains(int64_t number) const {
  return std::any_of(ranges.begin(), ranges.end(), [number](const auto& range) {
    return range.first <= number && number <= range.second;
  });
}

Result<NumberRanges> NumberRanges::Parse(std::string_view text) {
  NumberRanges result;
  for (std::string_view rest = text; true;) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::pair<int64_t, int64_t> range;
    if (!ParseRange(rest.substr(0, comma), range)) {
      return BadRange(text);
    }
    result.ranges.push_back(range);
    if (comma == rest.size()) {
      return result;
    }
    rest.remove_prefix(comma + 1);
  }
}

std::span<const AnalysisSpec> Analyses() { return kAnalyses; }

const AnalysisSpec* FindAnalysis(std::string_view name) {
  const auto* found = std::find_if(std::begin(kAnalyses), std::end(kAnalyses),
                                   [name](const AnalysisSpec& spec) { return spec.name == name; });
  return found == std::end(kAnalyses) ? nullptr : found;
}

}  // namespace borescope
