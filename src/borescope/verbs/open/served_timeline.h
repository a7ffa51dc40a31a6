// Finer detail of the timeline of a served page (docs/use/open.md, docs/how-it-works/timeline.md).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/verbs/timeline/make_timeline.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/serve/http.h"
#include "borescope/verbs/report/report.h"

namespace borescope::internal {

// The address, beside the page, that answers; "more" in the document of the page.
inline constexpr std::string_view kTimelineAddress = "timeline";

// "begin=NS&end=NS&grain=NS" in any order, each once: whole numbers in decimal digits; those that
// are too large are the largest. `grain` may be left out. Nothing for anything else, and where the
// end is before the begin.
std::optional<AskedStretch> ParseStretch(std::string_view query);

// The recordings that a page shows, as far as they are in memory. They stay there as long as this.
// Thread-safe.
class ServedTimeline {
 public:
  struct Rank {
    int64_t rank = 0;
    int64_t shift_ns = 0;  // its begin on the clock of the page
    std::shared_ptr<const LoadedTrace> trace;
  };

  // `params` are those of the verb timeline in the page.
  ServedTimeline(std::vector<Rank> ranks, Params params);
  ~ServedTimeline();
  ServedTimeline(const ServedTimeline&) = delete;
  ServedTimeline& operator=(const ServedTimeline&) = delete;

  // A document of docs/how-it-works/timeline.md with what is asked for, of at most about 2 MB of
  // boxes, which ranks share. A refusal where the query makes no sense. The first call finds the
  // tracks of all ranks, which takes longer than the others.
  MadeAnswer Answer(std::string_view query) const;

  // Draws ranks that are in memory. REQUIRES: at least one.
  std::vector<Timeline> Draw(const AskedStretch& asked) const;

 private:
  struct Tracks;
  Result<Tracks> Find(const Rank& rank) const;
  const std::vector<Tracks>& Found() const;

  const std::vector<Rank> ranks_;
  Params params_;
  mutable std::once_flag once_;
  mutable std::vector<Tracks> found_;
};

// For a report that was made with these options, by the recordings that their cache keeps. nullptr
// if there is nothing finer than in the page: without a timeline, if all of it is exact, or if
// nothing is kept.
std::shared_ptr<const ServedTimeline> TimelineToServe(const Report& report,
                                                      const RunOptions& options);

}  // namespace borescope::internal
