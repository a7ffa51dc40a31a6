// What was asked, in partials: `message Question` of partial.proto.
#pragma once

#include <protozero/pbf_writer.hpp>

#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/partial/wire/wire_reader.h"

namespace borescope::internal::wire {

void WriteQuestion(const MappedQuestion& question, protozero::pbf_writer out);

// A question with verbs and options that this program has, whose values are of their types; else a
// fault of the reader.
MappedQuestion ReadQuestion(WireReader in);

}  // namespace borescope::internal::wire
