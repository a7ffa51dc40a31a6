// Graphs and the captures that made them: the names of captured kernels, which capture made a
// graph, and which operators asked for the kernels of graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// The names of the kernels that the launch calls of a capture requested. If the call does not
// record its kernel, the name is that of the Triton operator around the call; else that of the
// kernel which the same call (the n-th launch of an operator with this name, shapes and types)
// started elsewhere in the recording, outside of captures. It is unknown if those kernels differ.

inline constexpr uint32_t kUnknownName = ~uint32_t{0};

// Per capture, given by its calls in order: the StringId of each name, or kUnknownName. O(n log n)
// for n device rows and calls.
std::vector<std::vector<uint32_t>> NamesOfCaptured(const RankView& view,
                                                   std::span<const std::vector<HostId>> captures);

// Whether a call of this name copies or sets memory.
bool IsCopyName(std::string_view call);

// The longest common subsequence of two sequences of names.

// An index into the first sequence and one into the second.
using NamePair = std::pair<uint32_t, uint32_t>;

// A longest common subsequence, ascending, by the greedy method of Myers (An O(ND) difference
// algorithm, 1986): O((a + b) * most_edits) time, O(most_edits^2) memory. nullopt if more than
// `most_edits` names have to be left out of `a` and `b` together.
std::optional<std::vector<NamePair>> AlignNames(std::span<const uint32_t> a,
                                                std::span<const uint32_t> b, size_t most_edits);

// Finds which capture made a graph, by the names of the kernels that a launch of the graph ran, in
// order. docs/use/captures.md has the rules and their reasons.
//
//   exact    as many kernels with the same names; where some names of a capture are not known, the
//            known ones are at least half and agree
//   aligned  else the capture with the longest common subsequence, if at most one name in twenty,
//            or one in all, is left out; none if two different sequences are as close
//   family   captures with the same names. Launches with the same names take them in turn. If the
//            captures differ in the operators around the kernels, none is taken; if they differ in
//            shapes or types only, these count as unknown

// One capture. Equal numbers mean equal texts, across all captures and launches that are compared.
struct CapturedSequence {
  std::vector<uint32_t> names;      // of the kernels; kUnknownName
  std::vector<uint32_t> operators;  // the names of the operators around the calls
  std::vector<uint32_t> arguments;  // their shapes and types
};

struct SequenceMatch {
  CaptureFit fit = CaptureFit::kNone;
  bool has_arguments = false;
  uint32_t capture = 0;         // index of its CapturedSequence
  std::vector<NamePair> pairs;  // kernel of the launch, call of the capture; ascending
};

class CaptureMatcher {
 public:
  // `captures` must outlive it.
  explicit CaptureMatcher(std::span<const CapturedSequence> captures);

  // The next launch, by the names of its kernels. O(names) if a capture fits exactly or the same
  // names were searched before.
  SequenceMatch Match(const std::vector<uint32_t>& names);

 private:
  struct Family {
    std::vector<uint32_t> captures;
    bool has_operators = true;  // whether all captures of the family have the same operators
    bool has_arguments = true;
  };
  // What is known of launches with the same names.
  struct Known {
    CaptureFit fit = CaptureFit::kNone;
    const Family* family = nullptr;
    std::vector<NamePair> pairs;
    size_t next = 0;  // of the family
  };

  void Compare(const CapturedSequence& first, const CapturedSequence& other, Family& family) const;
  Known Search(const std::vector<uint32_t>& names) const;
  const Family* FindExact(const std::vector<uint32_t>& names) const;
  void Align(const std::vector<uint32_t>& names, Known& known) const;

  std::span<const CapturedSequence> captures_;
  std::map<std::vector<uint32_t>, Family> families_;  // by names
  std::map<std::vector<uint32_t>, Known> known_;      // by names of launches
};

// How many names may be left out of both sequences together when they are aligned.
size_t MostEdits(size_t kernels);

// Finds which operators asked for the kernels of graphs. The launch of a graph does not record
// them; but if the capture that made the graph was recorded, each kernel was requested there, by a
// call that started no work at that time.
//
//   names    of the kernels that captured calls requested: NamesOfCaptured
//   pairing  the kernels of a launch by start with the captured calls by start, one by one, if
//            there are equally many and no known name differs; else (branches of a graph run
//            concurrently) by name, and those of one name in order, if all names are known and the
//            same. At least one name must be known: order alone proves nothing.
//   capture  of a graph: the first capture of its process that ended before the graph's first
//            launch, fits, and is not yet taken by another graph; else one that is
//
// Captures in other files are matched when a recording is loaded (CaptureMatcher); what the index
// then has about them comes first.
//
// Kernels of all other launches stay without operators. Copies and memsets are not paired.
struct CapturedLaunches {
  // Per device row; empty where nothing was paired.
  std::vector<HostId> launch_of;    // the call in the capture, or invalid
  std::vector<uint32_t> replay_of;  // for work with a call: the number of the graph launch

  HostId LaunchOf(DeviceId id) const { return launch_of.empty() ? HostId{} : launch_of[id.value]; }
};

// O(rows log rows).
Result<CapturedLaunches> FindCapturedLaunches(const RankView& view);

}  // namespace borescope::internal
