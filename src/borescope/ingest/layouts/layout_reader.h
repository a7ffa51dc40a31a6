// LayoutReader: reads events whose layout was seen before, and decides when that is worth trying.
// docs/how-it-works/layouts.md describes how; what it reads is what the structural parser reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "borescope/ingest/kineto/kineto_fields.h"
#include "borescope/ingest/layouts/layout_tree.h"

namespace borescope::internal {

// Not thread-safe. Remembers layouts from text to text; what it remembers never shows in a result.
class LayoutReader {
 public:
  // True if the event that starts at `at` was read into `event`; `after` is then the place after
  // its closing brace. `event` keeps its byte.
  // REQUIRES: kTextPadding bytes of white space follow `text`.
  bool Read(std::string_view text, size_t at, RawEvent& event, size_t& after);

  // To be called with the text of each event that Read refused and that turned out well-formed.
  // REQUIRES: kTextPadding bytes after it are readable.
  void Learn(std::string_view event);

 private:
  static constexpr int kMostTrust = 64;
  static constexpr uint64_t kShortestRest = 256;
  static constexpr uint64_t kLongestRest = uint64_t{1} << 20;
  static constexpr size_t kMostSteps = 4096;

  LayoutTree tree_;
  int trust_ = kMostTrust;
  uint64_t rest_ = 0;  // so many events are not tried
  uint64_t next_rest_ = kShortestRest;
};

}  // namespace borescope::internal
