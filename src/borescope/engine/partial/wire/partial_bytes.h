// Partials as bytes: the body of partial.proto in the envelope of envelope.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/engine/partial/partial_data.h"

namespace borescope::internal {

// The same bytes for the same partial, whatever the threads that mapped it. kInvalidArgument where
// it is larger than a partial may be (kMostBodyBytes).
Result<std::string> SerializePartial(const PartialData& partial);

// What SerializePartial wrote; `name` represents the bytes in messages. Whatever the bytes are,
// memory is linear in them, and what comes back can be joined and reduced: its verbs and options
// are those of this program, its tables such as the verbs map. kUnsupportedFormat for what is no
// partial or one of another major version, kCorrupt for a damaged one, kInvalidArgument for one
// whose question or tables this program does not have; messages say which version wrote it.
Result<PartialData> ParsePartial(std::string_view bytes, std::string_view name);

// A partial without the cells of its tables: answers that have no error are there, and have none.
struct PartialHead {
  PartialData partial;
  std::vector<uint64_t> digests;  // of the bytes of each of its files, in this process
};

// As ParsePartial, in memory that does not follow the tables, and without a look at them: damage in
// one is found when the whole is read.
Result<PartialHead> ParsePartialHead(std::string_view bytes, std::string_view name);

// The body alone.
std::string PartialBody(const PartialData& partial);
Result<PartialData> ParsePartialBody(std::string_view body, std::string_view name);

// The bytes of one file's answers.
std::string FileBytes(const PartialFile& file);

}  // namespace borescope::internal
