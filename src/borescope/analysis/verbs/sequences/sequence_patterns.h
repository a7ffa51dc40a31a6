// Patterns of device work under operators.
//
// An occurrence is a call of an operator (or annotation) whose name contains `text`, and that lies
// in no other such call; with an empty text it is an operator that lies in no other operator. Its
// work is all device work of its whole subtree: launched by a call inside it or, where no launch
// inside an occurrence is known, of an operator inside it. The names of the work, by start, are its
// pattern.
//
// An occurrence is selected by its own start, and brings all its work on the selected streams.
// Linear in the rows but for the sorting of the work of each occurrence.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

struct Occurrence {
  HostId op;
  bool is_selected = false;
  uint32_t work_begin = 0;  // its work, a slice of SequencePatterns::work
  uint32_t work_end = 0;

  size_t length() const { return work_end - work_begin; }
};

struct SequencePattern {
  std::vector<uint32_t> occurrences;  // by row
  int64_t device_ns = 0;              // sums over them: of their work,
  int64_t host_ns = 0;                // and of the operators
};

// What became of the selected device work.
enum class WorkPlace : uint8_t {
  kInPattern,  // in one of `patterns`
  kInShorter,  // in a pattern that is too short
  kOutside,    // under no such operator
  kUnlinked,   // neither launch nor operator was recorded
  kCount
};

struct WorkSum {
  int64_t count = 0;
  int64_t device_ns = 0;
};

struct SequencePatterns {
  std::vector<Occurrence> occurrences;    // by row
  std::vector<DeviceId> work;             // of all occurrences, each by start
  std::vector<SequencePattern> patterns;  // in order of first appearance
  std::array<WorkSum, static_cast<size_t>(WorkPlace::kCount)> places;

  std::span<const DeviceId> WorkOf(const Occurrence& occurrence) const {
    return std::span(work).subspan(occurrence.work_begin, occurrence.length());
  }
  const Occurrence& FirstOf(const SequencePattern& pattern) const {
    return occurrences[pattern.occurrences.front()];
  }
};

// Patterns of at least `min_length` pieces of work. REQUIRES: min_length > 0.
SequencePatterns FindSequencePatterns(const RankView& view, const Selected& selected,
                                      std::string_view text, int64_t min_length);

// The names of the work of an occurrence, joined by "|".
std::string PatternText(const Trace& trace, std::span<const DeviceId> work);

}  // namespace borescope::internal
