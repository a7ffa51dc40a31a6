// Verbs whose answers can be computed again without the trace: --save writes what they need, --load
// reads it. To add one: its two functions, and AnalysisSpec::saved.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/io/byte_source.h"

namespace borescope::internal {

// Takes the bytes of a file, piece by piece.
using PutBytes = std::function<Result<void>(std::string_view)>;

// The tables made from a file that --save wrote.
struct SavedAnswer {
  std::optional<int64_t> rank;  // as recorded
  std::optional<int64_t> world_size;
  uint64_t events = 0;
  int64_t begin_ns = 0;   // of the recording, on its clock
  Result<Tables> tables;  // like those of map
};

struct SavedForm {
  // Writes everything about one rank, whatever part is selected. The same bytes for the same rank.
  Result<void> (*save)(const RankView&, const Params&, const PutBytes&) = nullptr;
  // `source` is inflated already; `file` is its name in messages. Hostile bytes are an error.
  Result<SavedAnswer> (*load)(ByteSource& source, const std::string& file, const Params&) = nullptr;
};

}  // namespace borescope::internal
