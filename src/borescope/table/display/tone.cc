#include "borescope/table/display/tone.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace borescope::internal {
namespace {

constexpr std::string_view kToneNames[] = {
    "compute", "comm",     "copy",  "idle",    "tail",       "host",   "device",
    "sync",    "data",     "faint", "unknown", "annotation", "op",     "python",
    "kernel",  "transfer", "other", "ink",     "quiet",      "line",   "less-3",
    "less-2",  "less-1",   "same",  "more-1",  "more-2",     "more-3", "paper"};
static_assert(std::size(kToneNames) == static_cast<size_t>(Tone::kCount));

}  // namespace

std::string_view ToneName(Tone tone) { return kToneNames[static_cast<size_t>(tone)]; }

std::optional<Tone> FindTone(std::string_view name) {
  const auto* const end = std::begin(kToneNames) + static_cast<size_t>(Tone::kInk);
  const auto* const found = std::find(std::begin(kToneNames), end, name);
  return found == end ? std::nullopt
                      : std::optional(static_cast<Tone>(found - std::begin(kToneNames)));
}

}  // namespace borescope::internal
