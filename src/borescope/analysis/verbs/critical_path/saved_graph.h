// --save and --load of critical-path: the graph of one recording and what its tables show about the
// events, in one file. docs/how-it-works/critical-path.md lists them, and saved_columns.h has the
// columns of a file in their order. Internal to critical_path/.
#pragma once

#include <string>
#include <vector>

#include "borescope/analysis/core/saved_form.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/verbs/critical_path/saved_columns.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// A graph without its trace. `trace` and `index` hold what the tables ask for and nothing else: the
// names and times of events, who launched what, the steps.
struct SavedGraph {
  Trace trace;
  TraceIndex index;
  RecordingGraph recording;
};

// The same graph gives the same bytes. Errors are those of `put`.
Result<void> SaveGraph(const RankView& view, const RecordingGraph& recording, const PutBytes& put);

// The graph in `source`, whose bytes are inflated already; `file` is its name in messages.
// `data_load` as BuildGraph. kCorrupt where it is no graph, or damaged, with the place;
// kUnsupportedFormat for one of another version. Whatever the bytes, a graph that is returned can
// be asked for all tables.
Result<SavedGraph> LoadGraph(ByteSource& source, const std::string& file,
                             std::string_view data_load);

// Whether what a file holds can be a saved graph: every index leads somewhere, times and weights
// fit together. All tables can be made from whatever passes.

// The columns as read, before anything is made of them. kCorrupt names `file`, cell and cause.
Result<void> CheckSavedTrace(const std::string& file, const SavedExtras& extras,
                             const TraceData& trace, const ColumnData<HostId>& launch_of);

// The graph of that trace, which is complete by now. O(rows + edges).
Result<void> CheckSavedGraph(const std::string& file, const TraceData& trace,
                             const RecordingGraph& recording);

}  // namespace borescope::internal
