// A .et as text for people and other programs: JSON, and its dependencies as a graph.
#pragma once

#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

// One document: {"metadata": {...}, "nodes": [...]}, with a line for every node and members named
// as in the schema. All fields that are set are in it.
Result<void> WriteEtJson(std::string_view et, Sink& sink);

// What chakra_jsonizer writes: protobuf's JSON of every message, one after the other without
// anything between them, which together are not a JSON document.
Result<void> WriteEtJsonAsReference(std::string_view et, Sink& sink);

// DOT of Graphviz: a box for every node, data dependencies as arrows, control dependencies ending
// in a bar. Not laid out: run `dot -Tpdf`.
Result<void> WriteEtDot(std::string_view et, Sink& sink);

// GraphML. `as_reference`: a pair of nodes has only one edge, and a control dependency replaces a
// data dependency; else each dependency has its own edge.
Result<void> WriteEtGraphml(std::string_view et, bool as_reference, Sink& sink);

// A name as the label of a record of Graphviz, with backslashes before its special characters.
std::string EscapeDotLabel(std::string_view name);

}  // namespace borescope::internal
