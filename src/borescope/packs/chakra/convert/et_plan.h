// How the nodes of a linked trace are written to a .et: which ones, as what, and with which
// dependencies. There are two ways to plan, by the rules of Borescope and exactly by those of the
// reference, and one writer for both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/packs/chakra/convert/linked_trace.h"
#include "borescope/packs/chakra/et/et_codec.h"

namespace borescope::internal {

struct PlannedNode {
  uint32_t source = 0;  // index in LinkedTrace::nodes
  EtNodeType type = EtNodeType::kInvalid;
  std::optional<uint64_t> ctrl_dep;
  std::vector<uint64_t> data_deps;
  uint64_t start_us = 0;
  uint64_t duration_us = 0;
  std::optional<uint64_t> start_ns;     // written if present
  std::optional<uint64_t> duration_ns;  // likewise
  std::optional<int64_t> device;        // likewise
  std::optional<EtCollective> collective;
  std::optional<int64_t> comm_bytes;
  std::string_view pg_name;  // of communication
};

// How often something of the source could not be kept, or was not as it should be.
struct PlanCounts {
  uint64_t orphaned_device = 0;      // device work whose operator is not there: kept without it
  uint64_t containers = 0;           // the process, threads without operators: left out
  uint64_t unreached = 0;            // operators below no thread: kept, on a thread of their own
  uint64_t dangling_deps = 0;        // dependencies on nodes that are not there: left out
  uint64_t backward_deps = 0;        // dependencies on what starts later: left out
  uint64_t unknown_collectives = 0;  // communication of unknown kind: kept as computation
  uint64_t unknown_sizes = 0;        // communication of unknown size: of zero bytes
  uint64_t bad_durations = 0;        // negative or no number: zero
  uint64_t sync_deps = 0;            // that were kept
  uint64_t stream_deps = 0;          // likewise, between device nodes
};

struct EtPlan {
  std::vector<PlannedNode> nodes;  // ascending by id
  PlanCounts counts;
};

// By the rules of docs/use/chakra.md. kCorrupt, with the names of the nodes, if dependencies are
// circular.
Result<EtPlan> PlanEt(const LinkedTrace& linked);

// What chakra_converter of MLCommons Chakra 21585d8 writes, byte for byte, if it succeeds. If it
// does not, kUnsupportedFormat or kCorrupt with the same cause.
Result<EtPlan> PlanEtAsReference(const LinkedTrace& linked);

// kCorrupt, naming the nodes of one circle, if dependencies are circular. REQUIRES: nodes are in
// order, and their dependencies are among them.
Result<void> CheckAcyclic(const LinkedTrace& linked, const EtPlan& plan);

// Writes metadata and nodes.
Result<void> WriteEt(const LinkedTrace& linked, const EtPlan& plan, Sink& sink);

}  // namespace borescope::internal
