#include "borescope/output/charts/tones.h"

#include <iterator>

namespace borescope::internal {
namespace {

// Shades as in web/src/style.css.
constexpr ToneRow kTones[] = {
    {Tone::kCompute, "#0072b2", "#3a9bd9", 32},  {Tone::kComm, "#e69f00", "#e9ab26", 214},
    {Tone::kCopy, "#cc79a7", "#d88fb6", 175},    {Tone::kIdle, "#b4bac4", "#59616e", 245},
    {Tone::kTail, "#8a93a3", "#7d8796", 250},    {Tone::kHost, "#009e73", "#1fb58a", 36},
    {Tone::kDevice, "#56b4e9", "#7cc7f0", 117},  {Tone::kSync, "#d55e00", "#e8793a", 166},
    {Tone::kData, "#c9b800", "#d9cd3f", 185},    {Tone::kFaint, "#d6d9df", "#3c434e", 240},
    {Tone::kUnknown, "#4a5261", "#b3bac6", 236}, {Tone::kFlameAnnotation, "#f3d9a4", "#6b5423"},
    {Tone::kFlameOp, "#b5d6ec", "#234f6c"},      {Tone::kFlamePython, "#bfe3d2", "#22543f"},
    {Tone::kFlameKernel, "#8fc0e0", "#1d5f8c"},  {Tone::kFlameCopy, "#ecc6db", "#6f3f5b"},
    {Tone::kFlameOther, "#dde0e6", "#3a414c"},   {Tone::kInk, "#1b1f26", "#e6e8ec"},
    {Tone::kQuiet, "#586070", "#a3abb9"},        {Tone::kLine, "#dfe2e7", "#333943"},
    {Tone::kLess3, "#6cb0dc", "#1b6fa3"},        {Tone::kLess2, "#a3cbe6", "#215270"},
    {Tone::kLess1, "#d5e6f2", "#26404f"},        {Tone::kSame, "#eceef1", "#333943"},
    {Tone::kMore1, "#fbe6cd", "#4d3b24"},        {Tone::kMore2, "#f7c78d", "#7a4f14"},
    {Tone::kMore3, "#ee9f45", "#a8650a"},        {Tone::kPaper, "#ffffff", "#14171c"},
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

}  // namespace

const ToneRow& GetToneRow(Tone tone) { return kTones[static_cast<size_t>(tone)]; }

Tone LineTone(size_t index) {
  constexpr Tone kOrder[kMostLines] = {Tone::kCompute, Tone::kComm, Tone::kHost, Tone::kCopy,
                                       Tone::kDevice,  Tone::kSync, Tone::kData, Tone::kIdle};
  return kOrder[index % kMostLines];
}

}  // namespace borescope::internal
