// Recordings that are text, written again without what may not stay in them: Kineto traces,
// execution traces and memory timelines. Memory grows with the longest event of a Kineto trace, and
// with the text of the others.
#pragma once

#include <string>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/output/sink/sink.h"
#include "borescope/scrub/text/scrubber.h"

namespace borescope::internal {

struct ScrubbedText {
  uint64_t events = 0;   // written: events, nodes or entries
  uint64_t dropped = 0;  // members that are not known, and went
  bool was_cut = false;  // the text ended early; what was there is whole
};

// `name` is that of the file in messages. kCorrupt where the text is no JSON, kUnsupportedFormat
// where it is no recording.
Result<ScrubbedText> ScrubJson(TextReader& reader, const std::string& name, Scrubber& scrubber,
                               Sink& sink);

}  // namespace borescope::internal
