// A .et as JSON.
#pragma once

#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

// One document: {"metadata": {...}, "nodes": [...]}, a line for every node, members named as in the
// schema. Everything that is set is in it.
Result<void> WriteEtJson(std::string_view et, Sink& sink);

// What chakra_jsonizer writes: protobuf's JSON of every message, one behind the other without
// anything between them, which together are no JSON document.
Result<void> WriteEtJsonAsReference(std::string_view et, Sink& sink);

}  // namespace borescope::internal
