// The members around "traceEvents": metadata of a file. Only used members are kept; environments,
// host names and other extras never enter a Trace.
#pragma once

#include <string>
#include <string_view>

#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// Everything read from the members, before the events are known.
struct KinetoMembers {
  Meta meta;
  std::string display_time_unit;
  bool has_schema_version = false;
  bool has_nodes = false;            // of a PyTorch execution trace
  bool has_rocprofiler_sdk = false;  // of a rocprofiler-sdk-tool file
  bool has_events = false;
};

// Records that the file has a member of this name, before its value is read: the value may be long
// or cut off, as in the execution trace of a process that was killed.
void NoteMember(std::string_view key, KinetoMembers& members);

// Extracts the used data from one member; `value` is its JSON text. False if the value is not JSON.
bool ReadMember(std::string_view key, std::string_view value, KinetoMembers& members);

// Fills in what follows from members and events together: producer, vendor.
void CompleteMeta(const KinetoFacts& facts, KinetoMembers& members);

}  // namespace borescope::internal
