// Whatever the text is: events of known layouts are what the parser that indexes the text makes of
// them, rows, repairs and all, the first time, when the layouts are learnt, and the second time.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/oracle/event_readers.h"

namespace {

using borescope::internal::ChunkEnd;
using borescope::internal::FastParser;
namespace testkit = borescope::internal::testkit;

// A difference is a crash, which libFuzzer and the replay report.
void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  // Most inputs are documents; the parsers are given what follows the bracket of the events.
  const size_t bracket = text.find('[');
  text.remove_prefix(bracket == std::string_view::npos ? 0 : bracket + 1);
  for (const ChunkEnd end : {ChunkEnd::kMoreText, ChunkEnd::kEndOfText}) {
    const testkit::EventsRead wanted = testkit::ReadByStructure(text, end);
    FastParser parser;
    for (int time = 0; time < 2; ++time) {
      Require(testkit::FirstDifference(testkit::ReadByLayouts(parser, text, end), wanted).empty());
    }
  }
  return 0;
}
