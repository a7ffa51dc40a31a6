// The answers of one file, in partials: `message File` of partial.proto.
#pragma once

#include <protozero/pbf_writer.hpp>

#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/partial/wire/wire_reader.h"

namespace borescope::internal::wire {

void WriteFile(const PartialFile& file, protozero::pbf_writer out);

// What the bytes say, or a fault of the reader. Memory is linear in them.
PartialFile ReadFile(WireReader in);

}  // namespace borescope::internal::wire
