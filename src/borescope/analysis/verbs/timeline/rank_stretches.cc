#include "borescope/analysis/verbs/timeline/rank_stretches.h"

#include <algorithm>
#include <utility>

#include "borescope/analysis/verbs/timeline/make_timeline.h"
#include "borescope/analysis/verbs/timeline/page_cost.h"

namespace borescope::internal {
namespace {

// The coarsest level above 0 that is as fine as asked for.
int64_t LevelOfGrain(int64_t grain_ns, int64_t coarsest) {
  int64_t level = 1;
  while (level < coarsest && GrainOf(level + 1) <= grain_ns) {
    ++level;
  }
  return level;
}

}  // namespace

RankStretches::RankStretches(const RankView& view, const Params& params, const Selected& selected)
    : view_(view), tracks_(BeginTimeline(view_, selected, params, true, begun_)) {}

Result<RankStretches> RankStretches::Make(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  return RankStretches(view, params, selected);
}

Timeline RankStretches::Draw(const AskedStretch& asked, int64_t room) const {
  const TimeSpan span{std::max<int64_t>(0, asked.span.begin_ns),
                      std::min(begun_.span_ns, asked.span.end_ns)};
  if (span.begin_ns > span.end_ns) {
    return Begin({});
  }
  std::optional<Timeline> drawn = DrawExact(span, room);
  const int64_t coarsest = CoarsestLevelOf(begun_.span_ns);
  for (int64_t level = LevelOfGrain(asked.grain_ns, coarsest);
       !drawn.has_value() && level <= coarsest; ++level) {
    drawn = DrawLevel(level, span, room);
  }
  return drawn.has_value() ? std::move(*drawn) : Begin(span);
}

Timeline RankStretches::Begin(const TimeSpan& span) const {
  Timeline timeline;
  timeline.rank = begun_.rank;
  timeline.clock_begin_ns = begun_.clock_begin_ns;
  timeline.base_ns = begun_.base_ns;
  timeline.span_ns = begun_.span_ns;
  timeline.left_out_tracks = begun_.left_out_tracks;
  timeline.left_out_events = begun_.left_out_events;
  timeline.tracks = begun_.tracks;
  timeline.window = {span.begin_ns, span.end_ns, "asked for"};
  return timeline;
}

std::optional<Timeline> RankStretches::DrawExact(const TimeSpan& span, int64_t room) const {
  Timeline drawn = Begin(span);
  DrawnTexts texts(view_.trace, drawn.texts);
  AddExactRows(view_, tracks_, drawn.window, static_cast<size_t>(room / kLeastBytesOfRow), texts,
               drawn);
  PageCost cost(drawn.texts);
  cost.AddAll(drawn.boxes, drawn.points);
  if (cost.bytes() > room) {
    return std::nullopt;
  }
  drawn.levels.push_back(
      {.level = 0, .begin_ns = span.begin_ns, .end_ns = span.end_ns, .bytes = cost.bytes()});
  return drawn;
}

std::optional<Timeline> RankStretches::DrawLevel(int64_t level, const TimeSpan& span,
                                                 int64_t room) const {
  Timeline drawn = Begin(span);
  DrawnTexts texts(view_.trace, drawn.texts);
  LevelRows rows(view_, tracks_, texts);
  PageCost cost(drawn.texts);
  if (!rows.Make(level, span, static_cast<size_t>(room / kLeastBytesOfRow))) {
    return std::nullopt;
  }
  cost.AddAll(rows.boxes(), rows.points());
  if (cost.bytes() > room) {
    return std::nullopt;
  }
  drawn.boxes = rows.boxes();
  drawn.points = rows.points();
  drawn.levels.push_back({.level = level,
                          .grain_ns = GrainOf(level),
                          .begin_ns = span.begin_ns,
                          .end_ns = span.end_ns,
                          .bytes = cost.bytes()});
  return drawn;
}

}  // namespace borescope::internal
