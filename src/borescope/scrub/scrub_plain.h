// Scrubs dumps of PyTorch's flight recorder and memory snapshots, as pickles or JSON: the same
// structure with other texts, which a post-mortem reads to the same verdict but for names. Both are
// rewritten while they are read, value by value.
#pragma once

#include <string>

#include "borescope/base/result.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/output/sink/sink.h"
#include "borescope/scrub/json/scrub_json.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

// `name` is that of the file in messages. Texts of the format stay, and keys that are known; other
// keys are replaced. Errors: kUnsupportedFormat where a pickle asks to run code, kCorrupt for what
// is no such file, or ends in the middle.
Result<ScrubbedText> ScrubPickle(TextReader& reader, const std::string& name, Scrubber& scrubber,
                                 Sink& sink);
Result<ScrubbedText> ScrubPlainJson(TextReader& reader, const std::string& name, Scrubber& scrubber,
                                    Sink& sink);

}  // namespace borescope::internal
