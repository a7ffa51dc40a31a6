#include "borescope/output/charts/tones.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string>

namespace borescope::internal {
namespace {

// Shades as in web/src/style.css.
constexpr ToneRow kTones[] = {
    {Tone::kCompute, "compute", "#0072b2", "#3a9bd9", 32},
    {Tone::kComm, "comm", "#e69f00", "#e9ab26", 214},
    {Tone::kCopy, "copy", "#cc79a7", "#d88fb6", 175},
    {Tone::kIdle, "idle", "#b4bac4", "#59616e", 245},
    {Tone::kTail, "tail", "#8a93a3", "#7d8796", 250},
    {Tone::kHost, "host", "#009e73", "#1fb58a", 36},
    {Tone::kDevice, "device", "#56b4e9", "#7cc7f0", 117},
    {Tone::kSync, "sync", "#d55e00", "#e8793a", 166},
    {Tone::kData, "data", "#c9b800", "#d9cd3f", 185},
    {Tone::kFaint, "faint", "#d6d9df", "#3c434e", 240},
    {Tone::kFlameAnnotation, "annotation", "#f3d9a4", "#6b5423"},
    {Tone::kFlameOp, "op", "#b5d6ec", "#234f6c"},
    {Tone::kFlamePython, "python", "#bfe3d2", "#22543f"},
    {Tone::kFlameKernel, "kernel", "#8fc0e0", "#1d5f8c"},
    {Tone::kFlameCopy, "transfer", "#ecc6db", "#6f3f5b"},
    {Tone::kFlameOther, "other", "#dde0e6", "#3a414c"},
    {Tone::kInk, "ink", "#1b1f26", "#e6e8ec"},
    {Tone::kQuiet, "quiet", "#586070", "#a3abb9"},
    {Tone::kLine, "line", "#dfe2e7", "#333943"},
    {Tone::kPaper, "paper", "#ffffff", "#14171c"},
};
constexpr bool InStep() {
  for (size_t i = 0; i < std::size(kTones); ++i) {
    if (kTones[i].tone != static_cast<Tone>(i)) {
      return false;
    }
  }
  return std::size(kTones) == static_cast<size_t>(Tone::kCount);
}
static_assert(InStep());

// First match counts. `parts` stand anywhere in a name, `begin` at its begin.
struct Meaning {
  Tone tone;
  std::array<std::string_view, 11> parts;
  std::string_view begin = {};
};
constexpr Meaning kMeanings[] = {
    {Tone::kCopy, {"copy", "memset", "htod", "dtoh", "dtod", "htoh"}},
    {Tone::kComm,
     {"exposed", "collective", "communication", "nccl", "rccl", "all_reduce", "all_gather",
      "all_to_all", "reduce_scatter"}},
    {Tone::kFaint, {"unknown", "other", "unlinked", "no annotation"}},
    {Tone::kTail, {"tail"}},
    {Tone::kIdle, {"idle", "head", "gap", "reserved"}},
    {Tone::kSync, {"sync", "wait", "excess"}},
    {Tone::kData, {"data"}},
    {Tone::kDevice, {"overlapped", "kernel_kernel"}, "device"},
    {Tone::kHost, {"host", "delay", "cpu", "launch"}},
};

bool Matches(const Meaning& meaning, std::string_view name) {
  const bool starts = !meaning.begin.empty() && name.starts_with(meaning.begin);
  return starts ||
         std::any_of(meaning.parts.begin(), meaning.parts.end(), [&](std::string_view part) {
           return !part.empty() && name.find(part) != std::string_view::npos;
         });
}

}  // namespace

const ToneRow& GetToneRow(Tone tone) { return kTones[static_cast<size_t>(tone)]; }

Tone ToneOf(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  const auto* const found =
      std::find_if(std::begin(kMeanings), std::end(kMeanings),
                   [&](const Meaning& meaning) { return Matches(meaning, lower); });
  return found == std::end(kMeanings) ? Tone::kCompute : found->tone;
}

Tone BarTone(std::string_view work, std::string_view value, std::string_view table) {
  const Tone own = ToneOf(work);
  if (own == Tone::kComm || own == Tone::kCopy) {
    return own;
  }
  const Tone of_value = ToneOf(value);
  return of_value != Tone::kCompute ? of_value : ToneOf(table);
}

Tone LineTone(size_t index) {
  constexpr Tone kOrder[kMostLines] = {Tone::kCompute, Tone::kComm, Tone::kHost, Tone::kCopy,
                                       Tone::kDevice,  Tone::kSync, Tone::kData, Tone::kIdle};
  return kOrder[index % kMostLines];
}

}  // namespace borescope::internal
