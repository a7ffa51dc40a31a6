// timeline: what the page of the report draws over time, at several levels of detail.
// docs/how-it-works/timeline.md.
#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/timeline/make_timeline.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"
#include "borescope/analysis/verbs/timeline/timeline_tables.h"
#include "borescope/analysis/verbs/timeline/timeline_waits.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kFull = "full";

bool IsFull(const Params& params) { return params.Text(kTimelineDetailParam) == kFull; }

// What one of so many ranks may take, but for its row of waiting.
int64_t ShareOfRank(const Params& params, size_t ranks) {
  const int64_t size = params.Number(kTimelineSizeParam);
  return (ranks > 1 ? size - BytesForWaits(size) : size) /
         static_cast<int64_t>(std::max<size_t>(1, ranks));
}

Result<Tables> MapTimeline(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  TimelineRequest request;
  if (!IsFull(params)) {
    request.share = ShareOfRank(params, params.sharing);
  }
  std::vector<Timeline> timelines;
  BS_ASSIGN(Timeline timeline, MakeTimeline(view, selected, params, request));
  timelines.push_back(std::move(timeline));
  return TimelineTables(std::move(timelines));
}

void FitAll(const Params& params, size_t sharing, std::vector<Timeline>& timelines) {
  for (Timeline& timeline : timelines) {
    if (!IsFull(params)) {
      FitPage(timeline, ShareOfRank(params, sharing));
    }
  }
}

// As far as it is known how many ranks share the page.
Result<Tables> ReduceTimeline(std::span<const Tables> findings, const Params& params) {
  BS_ASSIGN(Tables tables, ConcatTables(findings, params));
  const size_t ranks = tables.front().rows();
  if (ranks < 2 || IsFull(params)) {
    return tables;
  }
  std::vector<Timeline> timelines = TimelinesOf(tables);
  FitAll(params, std::max(ranks, params.sharing), timelines);
  return TimelineTables(std::move(timelines));
}

// When each recording begins, on one clock: that of Unix where all have it, else that of the files.
std::vector<int64_t> BeginsOnOneClock(const std::vector<Timeline>& timelines) {
  const bool have_base = std::all_of(timelines.begin(), timelines.end(),
                                     [](const Timeline& one) { return one.base_ns != kMissing; });
  std::vector<int64_t> begins;
  begins.reserve(timelines.size());
  for (const Timeline& timeline : timelines) {
    begins.push_back(have_base ? AddSaturating(timeline.base_ns, timeline.clock_begin_ns)
                               : timeline.clock_begin_ns);
  }
  return begins;
}

Result<Tables> FinishTimeline(Tables findings, const Params& params) {
  std::vector<Timeline> timelines = TimelinesOf(findings);
  findings.clear();
  FitAll(params, params.sharing, timelines);
  const std::vector<int64_t> begins = BeginsOnOneClock(timelines);
  const int64_t first = begins.empty() ? 0 : *std::min_element(begins.begin(), begins.end());
  for (size_t i = 0; i < timelines.size(); ++i) {
    ShiftTimeline(SubtractSaturating(begins[i], first), timelines[i]);
    SettleWindows(timelines[i]);
    MeasureLevels(timelines[i]);
    if (!IsFull(params)) {
      DropRedundantLevels(timelines[i]);
    }
  }
  return TimelineTables(std::move(timelines));
}

constexpr const ParamSpec* kTimelineParams[] = {&kTimelineDetailParam, &kTimelineSizeParam};

}  // namespace

const AnalysisSpec kTimelineVerb{
    .name = "timeline",
    .summary = "what ran when: threads, streams and counters over time, at levels of detail",
    .example = "borescope timeline trace.json.gz",
    .needs = Needs::kEvents,
    .params = kTimelineParams,
    .answer = {.map = MapTimeline,
               .reduce = ReduceTimeline,
               .finish = FinishTimeline,
               .check_tables = CheckTimelineTables},
    .memory = 0.75,
    .dear = PathGraphIsDear,
    .in_report = false};

}  // namespace borescope::internal
