// Tables in partials: `message Table` of partial.proto.
#pragma once

#include <protozero/pbf_writer.hpp>

#include "borescope/engine/partial/wire/wire_reader.h"
#include "borescope/table/table.h"

namespace borescope::internal::wire {

// Writes the fields of the table into a message that was begun for it.
void WriteTable(const Table& table, protozero::pbf_writer out);

// A table whose columns are equally long and of distinct names, or a fault of the reader. Memory is
// linear in the bytes of the message.
Table ReadTable(WireReader in);

}  // namespace borescope::internal::wire
