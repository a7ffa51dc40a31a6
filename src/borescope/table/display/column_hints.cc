#include "borescope/table/display/column_hints.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <string>

#include "borescope/base/text/text.h"

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

namespace {

constexpr std::string_view kPaletteNames[] = {"", "work", "cause", "frame", "level", "verdict"};
static_assert(std::size(kPaletteNames) == static_cast<size_t>(Palette::kCount));

// Parts of names in lower case, of which any is enough. The first row that matches counts.
struct WordRow {
  Tone tone;
  std::array<std::string_view, 9> parts;
};
constexpr WordRow kWorkWords[] = {
    {Tone::kCopy,
     {"memcpy", "memset", "htod", "dtoh", "dtod", "htoh", "copybuffer", "copyhostto",
      "copydeviceto"}},
    {Tone::kComm,
     {"collective", "communication", "nccl", "rccl", "all_reduce", "all_gather", "all_to_all",
      "reduce_scatter"}},
};

struct CellRow {
  std::string_view cell;
  Tone tone;
};
constexpr CellRow kCauses[] = {{"cpu", Tone::kHost},
                               {"data_load", Tone::kData},
                               {"launch", Tone::kHost},
                               {"kernel_kernel_delay", Tone::kDevice},
                               {"gpu_compute", Tone::kCompute},
                               {"gpu_communication", Tone::kComm},
                               {"gpu_memory_copy", Tone::kCopy},
                               {"wait", Tone::kSync},
                               {"before_recording", Tone::kFaint}};
// In the order of legends.
constexpr CellRow kFrames[] = {
    {"annotation", Tone::kFlameAnnotation}, {"op", Tone::kFlameOp},
    {"python", Tone::kFlamePython},         {"kernel", Tone::kFlameKernel},
    {"memcpy", Tone::kFlameCopy},           {"memset", Tone::kFlameCopy},
    {"runtime", Tone::kFlameOther}};

constexpr CellRow kVerdicts[] = {
    {"kept", Tone::kCompute}, {"same", Tone::kCompute}, {"faster", Tone::kCompute},
    {"broken", Tone::kComm},  {"slower", Tone::kComm},  {"cannot tell", Tone::kIdle},
    {"void", Tone::kIdle},    {"new", Tone::kData},     {"gone", Tone::kData},
    {"more", Tone::kData},    {"fewer", Tone::kData}};

constexpr LevelRow kLevels[] = {
    {"much shorter", 0.75, Tone::kLess3},
    {"shorter", 0.9, Tone::kLess2},
    {"a little shorter", 0.97, Tone::kLess1},
    {"as usual", 1.03, Tone::kSame},
    {"a little longer", 1.1, Tone::kMore1},
    {"longer", 1.33, Tone::kMore2},
    {"much longer", std::numeric_limits<double>::infinity(), Tone::kMore3}};

bool Matches(const WordRow& row, std::string_view name) {
  return std::any_of(row.parts.begin(), row.parts.end(),
                     [&](std::string_view part) { return !part.empty() && Contains(name, part); });
}

// The class of work that moves data. As a part of a name the word says less: aten::copy_ and
// aten::_to_copy mostly cast to another type, in kernels that compute.
constexpr std::string_view kCopyClass = "copy";

std::optional<Tone> ToneOfWork(std::string_view cell) {
  const std::string lower = LowerCase(cell);
  if (lower == kCopyClass) {
    return Tone::kCopy;
  }
  const auto* const row = std::find_if(std::begin(kWorkWords), std::end(kWorkWords),
                                       [&](const WordRow& one) { return Matches(one, lower); });
  return row == std::end(kWorkWords) ? std::nullopt : std::optional(row->tone);
}

std::optional<Tone> ToneOfLevel(std::string_view cell) {
  const auto* const row = std::find_if(std::begin(kLevels), std::end(kLevels),
                                       [&](const LevelRow& one) { return one.cell == cell; });
  return row == std::end(kLevels) ? std::nullopt : std::optional(row->tone);
}

std::optional<Tone> ToneIn(std::span<const CellRow> rows, std::string_view cell) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const CellRow& one) { return one.cell == cell; });
  return row == rows.end() ? std::nullopt : std::optional(row->tone);
}

}  // namespace

std::span<const LevelRow> Levels() { return kLevels; }

std::string_view LevelOf(double ratio) {
  const auto* const row = std::find_if(std::begin(kLevels), std::end(kLevels),
                                       [&](const LevelRow& one) { return ratio < one.below; });
  return row == std::end(kLevels) ? kLevels[std::size(kLevels) - 1].cell : row->cell;
}

std::string_view PaletteName(Palette palette) {
  return kPaletteNames[static_cast<size_t>(palette)];
}

Palette FindPalette(std::string_view name) {
  const auto* const found = std::find(std::begin(kPaletteNames), std::end(kPaletteNames), name);
  return found == std::end(kPaletteNames) ? Palette::kNone
                                          : static_cast<Palette>(found - std::begin(kPaletteNames));
}

std::optional<Tone> ToneOfCell(Palette palette, std::string_view cell) {
  switch (palette) {
    case Palette::kWork:
      return ToneOfWork(cell);
    case Palette::kCause:
      return ToneIn(kCauses, cell);
    case Palette::kFrame:
      return ToneIn(kFrames, cell);
    case Palette::kLevel:
      return ToneOfLevel(cell);
    case Palette::kVerdict:
      return ToneIn(kVerdicts, cell);
    case Palette::kNone:
    case Palette::kCount:
      break;
  }
  return std::nullopt;
}

}  // namespace borescope::internal
