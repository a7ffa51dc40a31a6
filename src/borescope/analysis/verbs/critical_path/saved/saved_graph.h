// --save and --load of critical-path: the graph of one recording with what its tables tell of the
// events, in one file. docs/how-it-works/critical-path.md lists them. Internal to critical_path/.
//
//   saved_columns.h    which columns a file consists of, in which order
//   save_graph.cc      graph → bytes
//   load_graph.cc      bytes → graph
//   check_graph.cc     whether what was read is a graph
#pragma once

#include <string>

#include "borescope/analysis/core/saved_form.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/base/io/byte_source.h"

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

// The graph in `source`, whose bytes are inflated already; `file` stands for it in messages.
// `data_load` as BuildGraph. kCorrupt where it is no graph, or damaged, with the place;
// kUnsupportedFormat for one of another version. Whatever the bytes, a graph that is returned can
// be asked for all tables.
Result<SavedGraph> LoadGraph(ByteSource& source, const std::string& file,
                             std::string_view data_load);

}  // namespace borescope::internal
