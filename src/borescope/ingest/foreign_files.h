// Kinds of file that are recognised only to name them in errors, with what to give instead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

// Distinguishes Perfetto's own traces and XLA's profiles from files that begin with the same byte.
// Pure.

// `start` is the begin of a file, or all of it. Returns the offset at which the first packet ends,
// which may be after the end of the file; 0 unless `start` consists of protobuf packets: field 1
// and bytes, which are fields of a message themselves
// (https://protobuf.dev/programming-guides/encoding). The last one may be cut off. That tag is also
// the byte of a newline: a text may begin with an empty line, and a Chakra trace whose first
// message is 10 bytes long with the same byte.
uint64_t FirstPacketEnd(std::string_view start);

// Whether `start` begins with a plane of an XSpace, the profile that XLA (JAX, TensorFlow) writes:
// field 1 as well, in which field 2 is the name of a plane.
bool IsXplane(std::string_view start);

// A file that no format accepts and that cannot be Kineto's either is named in the error. `text` is
// its first part, inflated; `name` the name of the file.
Result<void> CheckIsNotForeign(std::string_view text, const std::string& name);

// What a JSON file of another tool is, by its begin, in words such as "a report of NCCL's RAS
// service"; empty of dumps of the flight recorder, memory snapshots, Chrome traces and what is not
// known.
std::string_view ForeignJsonName(std::string_view head);

}  // namespace borescope::internal
