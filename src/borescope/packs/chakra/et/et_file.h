// A whole .et in memory, as checks and simulations need it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"
#include "borescope/packs/chakra/check/et_graph.h"
#include "borescope/packs/chakra/et/et_schema.h"

namespace borescope::internal {

struct EtFile {
  EtMetadata metadata;
  std::vector<EtNode> nodes;           // in the order of the file
  HashMap<uint64_t, uint32_t> places;  // of the first node with an id
  uint64_t empty_records = 0;
  uint64_t unknown_fields = 0;
};

// `bytes` must outlive the result. Errors are those of EtReader; kCorrupt for an empty file.
Result<EtFile> ReadEt(std::string_view bytes);

// Data dependencies that are there, by place in the file.
DependencyGraph DataGraph(const EtFile& et);

// The ids of nodes in the order in which the feeder of the reference hands them to a simulator that
// ends each before it takes the next: always the smallest that waits for nothing. Nodes that never
// can be are missing: in and behind circles, behind nodes that are not there, and behind nodes they
// name twice.
std::vector<uint64_t> IssueOrder(const EtFile& et);

}  // namespace borescope::internal
