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

// The names of the kernels that the launch calls of a capture requested. Where the call does not
// record it, the name is that of the Triton operator around the call; else of the kernel that the
// same call (n-th launch of an operator of this name, these shapes and types) started elsewhere in
// the recording, eagerly; not known if those differ.

inline constexpr uint32_t kUnknownName = ~uint32_t{0};

// Per capture, given by its calls in order: the StringId of each name, or kUnknownName. O(device
// rows + calls), times a logarithm.
std::vector<std::vector<uint32_t>> NamesOfCaptured(const RankView& view,
                                                   std::span<const std::vector<HostId>> captures);

// Whether a call of this name copies or sets memory.
bool IsCopyName(std::string_view call);

// What two sequences of names have in common, in order.

// An index into the first sequence and one into the second.
using NamePair = std::pair<uint32_t, uint32_t>;

// A longest common subsequence, ascending, by the greedy method of Myers (An O(ND) difference
// algorithm, 1986): O((a + b) * most_edits) time, O(most_edits^2) memory. Nothing if more than
// `most_edits` names have to be left out of `a` and `b` together.
std::optional<std::vector<NamePair>> AlignNames(std::span<const uint32_t> a,
                                                std::span<const uint32_t> b, size_t most_edits);

// Which capture made a graph, by the names of the kernels that a launch of the graph ran, in order.
// docs/use/captures.md has the rules and their reasons.
//
//   exact    as many kernels with the same names; where some names of a capture are not known, the
//            known ones are at least half and agree
//   aligned  else the capture with the longest common subsequence, if at most one name in twenty,
//            or one in all, is left out; none if two different sequences are as close
//   family   captures with the same names. Launches with the same names take them in turn. If they
//            differ in the operators around the kernels, none is taken; if they differ in shapes or
//            types only, these are withheld

// One capture; equal numbers mean equal texts, in all captures and launches that are compared.
struct CapturedSequence {
  std::vector<uint32_t> names;      // of the kernels; kUnknownName
  std::vector<uint32_t> operators;  // around the calls, by name
  std::vector<uint32_t> arguments;  // shapes and types of these
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
    bool has_operators = true;  // the same in all
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

// Names that may be left out of both sequences together when they are aligned.
size_t MostEdits(size_t kernels);

// Which operators stand behind the kernels of graphs. The launch of a graph tells none; but where
// the capture that made the graph was recorded, each of its kernels was asked for there, by a call
// that started no work then.
//
//   names    of the kernel that a captured call requested: captured_names.h
//   pairing  the kernels of a launch by start and the captured calls by start, one by one, if they
//            are as many and no known name differs; else (branches of a graph run side by side) by
//            name, and of one name in order, if all names are known and the same. Some name must be
//            known: order alone proves nothing.
//   capture  of a graph: the first of its process that ended before the graph's first launch, fits,
//            and made no graph before; else one that did
//
// Captures that other files hold are matched when a recording is loaded (match_captures.h); what
// the index has of them comes first.
//
// Kernels of all other launches stay without operators. Copies and memsets are not paired.

struct CapturedLaunches {
  // Per device row; empty where nothing was paired.
  std::vector<HostId> launch_of;    // the call in the capture; invalid: none
  std::vector<uint32_t> replay_of;  // of those with a call: number of the graph launch

  HostId LaunchOf(DeviceId id) const { return launch_of.empty() ? HostId{} : launch_of[id.value]; }
};

// O(rows), times a logarithm.
Result<CapturedLaunches> FindCapturedLaunches(const RankView& view);

}  // namespace borescope::internal
