// The answers of one file, in partials: `message File` of partial.proto.
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>

#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/partial/wire/wire_reader.h"

namespace borescope::internal::wire {

void WriteFile(const PartialFile& file, protozero::pbf_writer out);

// Whether the tables of a file are read, or passed over: its answers have none then.
enum class Cells : uint8_t { kRead, kSkip };

// What the bytes say, or a fault of the reader. Memory is linear in them.
PartialFile ReadFile(WireReader in, Cells cells);

}  // namespace borescope::internal::wire
