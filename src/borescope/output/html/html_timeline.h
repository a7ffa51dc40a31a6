// The timeline in the page: tables of the verb timeline as in docs/how-it-works/timeline.md,
// small enough for hundreds of thousands of boxes. Pure but for the sink.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Writes the document; null without tables. `more`: the address that has other stretches of
// it; empty: none has. REQUIRES: tables of the verb timeline, in their order, numbers in range.
Result<void> WriteTimeline(std::span<const Table> tables, std::string_view more, Sink& sink);

// By rank, how much later its recording begins than the first one; none without tables. REQUIRES:
// as WriteTimeline.
std::map<int64_t, int64_t> ShiftsOfRanks(std::span<const Table> tables);

// Writes a document of a stretch for a page that has the rest. Tracks of events without
// anything in it have empty chunks, so that the page does not draw coarser ones there; counters
// keep their value. REQUIRES: as WriteTimeline.
Result<void> WriteStretch(std::span<const Table> tables, Sink& sink);

}  // namespace borescope::internal
