// Dependencies of a .et as a graph for other programs.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

// DOT of Graphviz: a box for every node, data dependencies as arrows, control dependencies ending
// in a bar. Not laid out: run `dot -Tpdf`.
Result<void> WriteEtDot(std::string_view et, Sink& sink);

// GraphML. `as_reference`: a pair of nodes has only one edge, and a control dependency replaces a
// data dependency; else each dependency has its own edge.
Result<void> WriteEtGraphml(std::string_view et, bool as_reference, Sink& sink);

// A name as the label of a record of Graphviz, with backslashes before its special characters.
std::string EscapeDotLabel(std::string_view name);

}  // namespace borescope::internal
