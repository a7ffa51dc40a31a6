// A .et as JSON.
#pragma once

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

}  // namespace borescope::internal
