#include "borescope/table/display/tone.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace borescope::internal {
namespace {

constexpr std::string_view kNames[] = {"compute",    "comm",   "copy",   "idle",   "tail",
                                       "host",       "device", "sync",   "data",   "faint",
                                       "annotation", "op",     "python", "kernel", "transfer",
                                       "other",      "ink",    "quiet",  "line",   "paper"};
static_assert(std::size(kNames) == static_cast<size_t>(Tone::kCount));

}  // namespace

std::string_view ToneName(Tone tone) { return kNames[static_cast<size_t>(tone)]; }

std::optional<Tone> FindTone(std::string_view name) {
  const auto* const end = std::begin(kNames) + static_cast<size_t>(Tone::kInk);
  const auto* const found = std::find(std::begin(kNames), end, name);
  return found == end ? std::nullopt : std::optional(static_cast<Tone>(found - std::begin(kNames)));
}

}  // namespace borescope::internal
