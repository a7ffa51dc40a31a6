#include "borescope/analysis/measures/graphs/match_captures.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "borescope/analysis/measures/graphs/captured_names.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

// Whether all known names agree, and at least half are known.
bool Agrees(const std::vector<uint32_t>& names, const std::vector<uint32_t>& captured) {
  size_t known = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (captured[i] == kUnknownName) continue;
    if (captured[i] != names[i]) return false;
    ++known;
  }
  return 2 * known >= names.size();
}

// The least number of edits that turn one sequence into the other, whatever the order.
size_t LeastEdits(std::vector<uint32_t> a, std::vector<uint32_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<uint32_t> differing;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::back_inserter(differing));
  return differing.size();
}

std::vector<NamePair> InOrder(size_t size) {
  std::vector<NamePair> pairs;
  pairs.reserve(size);
  for (uint32_t i = 0; i < size; ++i) {
    pairs.emplace_back(i, i);
  }
  return pairs;
}

}  // namespace

size_t MostEdits(size_t kernels) {
  constexpr size_t kOneIn = 20;
  constexpr size_t kLeastKernels = 4;  // of fewer, one is too much of the whole
  constexpr size_t kMost = 1000;       // a bound for time and memory
  if (kernels < kLeastKernels) return 0;
  return std::clamp<size_t>(kernels / kOneIn, 1, kMost);
}

CaptureMatcher::CaptureMatcher(std::span<const CapturedSequence> captures) : captures_(captures) {
  for (uint32_t i = 0; i < captures.size(); ++i) {
    if (captures[i].names.empty()) continue;
    Family& family = families_[captures[i].names];
    if (!family.captures.empty()) {
      Compare(captures[family.captures.front()], captures[i], family);
    }
    family.captures.push_back(i);
  }
}

void CaptureMatcher::Compare(const CapturedSequence& first, const CapturedSequence& other,
                             Family& family) const {
  family.has_operators = family.has_operators && first.operators == other.operators;
  family.has_arguments = family.has_arguments && first.arguments == other.arguments;
}

// Nothing, too, if several families with unknown names agree.
const CaptureMatcher::Family* CaptureMatcher::FindExact(const std::vector<uint32_t>& names) const {
  if (const auto found = families_.find(names); found != families_.end()) return &found->second;
  const Family* fitting = nullptr;
  for (const auto& [captured, family] : families_) {
    CheckStop();
    if (captured.size() != names.size() || !Agrees(names, captured)) continue;
    if (fitting != nullptr) return nullptr;
    fitting = &family;
  }
  return fitting;
}

// Of two families that are equally close neither is taken.
void CaptureMatcher::Align(const std::vector<uint32_t>& names, Known& known) const {
  const size_t most_edits = MostEdits(names.size());
  size_t best = most_edits + 1;
  for (const auto& [captured, family] : families_) {
    CheckStop();
    if (LeastEdits(names, captured) > most_edits) continue;
    std::optional<std::vector<NamePair>> pairs =
        AlignNames(names, captured, std::min(best, most_edits));
    if (!pairs.has_value()) continue;
    const size_t edits = names.size() + captured.size() - 2 * pairs->size();
    known.fit = CaptureFit::kAligned;
    known.family = edits == best ? nullptr : &family;
    known.pairs = std::move(*pairs);
    best = edits;
  }
}

CaptureMatcher::Known CaptureMatcher::Search(const std::vector<uint32_t>& names) const {
  Known known;
  known.family = FindExact(names);
  if (known.family != nullptr) {
    known.fit = CaptureFit::kExact;
    known.pairs = InOrder(names.size());
  } else {
    Align(names, known);
  }
  const bool is_usable = known.family != nullptr && known.family->has_operators;
  return is_usable ? std::move(known) : Known{};
}

SequenceMatch CaptureMatcher::Match(const std::vector<uint32_t>& names) {
  const auto [place, is_new] = known_.try_emplace(names);
  Known& known = place->second;
  if (is_new) known = Search(names);
  if (known.family == nullptr) return {};
  const std::vector<uint32_t>& captures = known.family->captures;
  return {known.fit, known.family->has_arguments, captures[known.next++ % captures.size()],
          known.pairs};
}

}  // namespace borescope::internal
