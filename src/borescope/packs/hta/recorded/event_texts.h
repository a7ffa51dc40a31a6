// EventTexts: the recorded text of a list of events, one event after another.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Reads the part [begin, end) of what `source` yields, which is the inside of a JSON array; holds
// no more of it than about a piece and the longest event. Not thread-safe.
class EventTexts {
 public:
  // `source` outlives this.
  EventTexts(ByteSource& source, uint64_t begin, uint64_t end)
      : source_(source), begin_(begin), end_(end) {}

  // The next object of the list, from brace to brace; empty after the last one, and where the text
  // ends within one. The view lives until the next call.
  Result<std::string_view> Next();

 private:
  Result<bool> Fill();
  bool SkipToObject();
  size_t FindEnd() const;

  ByteSource& source_;
  uint64_t begin_;
  uint64_t end_;
  uint64_t read_ = 0;   // bytes of the source so far
  std::string buffer_;  // of [begin, end): what was read and not given out
  size_t at_ = 0;       // in the buffer
};

}  // namespace borescope::internal
