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
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "borescope/analysis/measures/graphs/align_names.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

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

}  // namespace borescope::internal
