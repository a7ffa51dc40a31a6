// Traces, parts and indexes as text, every column of every table: two of them are equal exactly if
// their texts are. Texts are for comparing and for reading after a failure, nothing else.
#pragma once

#include <string>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal::testkit {

std::string TextOf(const Diagnostics& diagnostics);
std::string TextOf(const KinetoFacts& facts);
std::string TextOf(const TracePart& part);
std::string TextOf(const Trace& trace);
// Without what describes the file itself: its members, sizes and repairs.
std::string TablesOf(const Trace& trace);
std::string TextOf(const Trace& trace, const TraceIndex& index);

// Empty, or the first line in which `a` and `b` differ, with its number.
std::string FirstDifference(const std::string& a, const std::string& b);

}  // namespace borescope::internal::testkit
