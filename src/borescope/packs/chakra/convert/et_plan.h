// What becomes of the nodes of a linked trace in a .et: which are written, as what, and on which
// they depend. Two ways to plan: by the rules of Borescope, and by those of the reference to the
// letter. One writer for both.
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
  std::optional<uint64_t> start_ns;     // written where they are there
  std::optional<uint64_t> duration_ns;  // likewise
  std::optional<int64_t> device;        // likewise
  std::optional<EtCollective> collective;
  std::optional<int64_t> comm_bytes;
  std::string_view pg_name;  // of communication
};

// How often something of the source could not be kept, or was not what it should be.
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

// By the rules of docs/use/chakra.md. kCorrupt when dependencies go in a circle, with its names.
Result<EtPlan> PlanEt(const LinkedTrace& linked);

// What chakra_converter of MLCommons Chakra 21585d8 writes, byte for byte, where it succeeds.
// kUnsupportedFormat or kCorrupt, with the same causes, where it does not.
Result<EtPlan> PlanEtAsReference(const LinkedTrace& linked);

// kCorrupt, naming the nodes of one circle, when dependencies go in circles. REQUIRES: nodes are in
// order, and what they depend on is among them.
Result<void> CheckAcyclic(const LinkedTrace& linked, const EtPlan& plan);

// Writes metadata and nodes.
Result<void> WriteEt(const LinkedTrace& linked, const EtPlan& plan, Sink& sink);

}  // namespace borescope::internal
