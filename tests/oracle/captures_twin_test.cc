// The matching of captures against slow twins: the table of all common subsequences, and a search
// that compares a launch with every capture.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "borescope/analysis/measures/graphs/captured_work.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

using Names = std::vector<uint32_t>;

size_t LongestCommon(const Names& a, const Names& b) {
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < b.size(); ++k) {
      best[i + 1][k + 1] = a[i] == b[k] ? best[i][k] + 1 : std::max(best[i][k + 1], best[i + 1][k]);
    }
  }
  return best[a.size()][b.size()];
}

size_t EditsOf(const Names& a, const Names& b) {
  return a.size() + b.size() - 2 * LongestCommon(a, b);
}

Names RandomNames(Random& random, size_t most, uint64_t texts) {
  Names names(random.Below(most + 1));
  for (uint32_t& name : names) {
    name = static_cast<uint32_t>(random.Below(texts));
  }
  return names;
}

// With some names left out, put in and replaced.
Names Changed(Random& random, Names names, uint64_t texts) {
  for (uint64_t changes = random.Below(4); changes > 0; --changes) {
    const auto at = static_cast<std::ptrdiff_t>(random.Below(names.size() + 1));
    const auto name = static_cast<uint32_t>(random.Below(texts));
    if (random.Chance(0.5)) {
      names.insert(names.begin() + at, name);
    } else if (static_cast<size_t>(at) < names.size()) {
      names.erase(names.begin() + at);
    }
  }
  return names;
}

void ExpectCommon(const Names& a, const Names& b, const std::vector<NamePair>& pairs) {
  for (size_t i = 0; i < pairs.size(); ++i) {
    EXPECT_EQ(a[pairs[i].first], b[pairs[i].second]);
    if (i > 0) {
      EXPECT_LT(pairs[i - 1].first, pairs[i].first);
      EXPECT_LT(pairs[i - 1].second, pairs[i].second);
    }
  }
}

TEST(CapturesTwin, AlignmentsAreLongestCommonSubsequences) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const uint64_t texts = 1 + random.Below(5);
    const Names a = RandomNames(random, 14, texts);
    const Names b = random.Chance(0.5) ? Changed(random, a, texts) : RandomNames(random, 14, texts);
    const size_t edits = EditsOf(a, b);
    const size_t most = random.Below(10);
    const std::optional<std::vector<NamePair>> pairs = AlignNames(a, b, most);
    ASSERT_EQ(pairs.has_value(), edits <= most);
    if (pairs.has_value()) {
      EXPECT_EQ(pairs->size(), LongestCommon(a, b));
      ExpectCommon(a, b, *pairs);
    }
  }
}

bool AgreesExactly(const Names& names, const Names& captured) {
  if (names.size() != captured.size()) return false;
  const auto unknown =
      static_cast<size_t>(std::count(captured.begin(), captured.end(), kUnknownName));
  for (size_t i = 0; i < names.size(); ++i) {
    if (captured[i] != kUnknownName && captured[i] != names[i]) return false;
  }
  return 2 * (names.size() - unknown) >= names.size();
}

struct Expected {
  CaptureFit fit = CaptureFit::kNone;
  std::vector<uint32_t> captures;  // with the same names, any of which is right
};

std::vector<uint32_t> FamilyOf(const std::vector<CapturedSequence>& captures, const Names& names) {
  std::vector<uint32_t> family;
  for (uint32_t i = 0; i < captures.size(); ++i) {
    if (captures[i].names == names) family.push_back(i);
  }
  return family;
}

// The sequences of captures for which `fits`, each once.
template <class Fits>
std::vector<Names> Fitting(const std::vector<CapturedSequence>& captures, const Fits& fits) {
  std::vector<Names> found;
  for (const CapturedSequence& capture : captures) {
    const bool is_new = std::find(found.begin(), found.end(), capture.names) == found.end();
    if (is_new && !capture.names.empty() && fits(capture.names)) found.push_back(capture.names);
  }
  return found;
}

Expected Search(const std::vector<CapturedSequence>& captures, const Names& names) {
  if (const std::vector<uint32_t> same = FamilyOf(captures, names); !same.empty()) {
    return {CaptureFit::kExact, same};
  }
  const std::vector<Names> exact =
      Fitting(captures, [&](const Names& one) { return AgreesExactly(names, one); });
  if (exact.size() == 1) return {CaptureFit::kExact, FamilyOf(captures, exact.front())};
  for (size_t edits = 0; edits <= MostEdits(names.size()); ++edits) {
    const std::vector<Names> close =
        Fitting(captures, [&](const Names& one) { return EditsOf(names, one) == edits; });
    if (close.size() > 1) return {};
    if (close.size() == 1) return {CaptureFit::kAligned, FamilyOf(captures, close.front())};
  }
  return {};
}

bool Differ(const std::vector<CapturedSequence>& captures, const std::vector<uint32_t>& family,
            std::vector<uint32_t> CapturedSequence::* member) {
  return std::any_of(family.begin(), family.end(), [&](uint32_t i) {
    return captures[i].*member != captures[family.front()].*member;
  });
}

std::vector<CapturedSequence> RandomCaptures(Random& random, uint64_t texts) {
  std::vector<CapturedSequence> captures(1 + random.Below(6));
  for (size_t i = 0; i < captures.size(); ++i) {
    captures[i].names = i > 0 && random.Chance(0.6)
                            ? Changed(random, captures[random.Below(i)].names, texts)
                            : RandomNames(random, 45, texts);
    for (uint32_t& name : captures[i].names) {
      if (random.Chance(0.1)) name = kUnknownName;
    }
    captures[i].operators.assign(captures[i].names.size(), random.Chance(0.1) ? 1 : 0);
    captures[i].arguments.assign(captures[i].names.size(), random.Chance(0.2) ? 1 : 0);
  }
  return captures;
}

void CheckMatch(const std::vector<CapturedSequence>& captures, const Names& names,
                const SequenceMatch& match) {
  Expected expected = Search(captures, names);
  const bool is_ambiguous = expected.fit != CaptureFit::kNone &&
                            Differ(captures, expected.captures, &CapturedSequence::operators);
  if (is_ambiguous) expected = {};
  ASSERT_EQ(match.fit, expected.fit);
  if (expected.fit == CaptureFit::kNone) return;
  EXPECT_NE(std::find(expected.captures.begin(), expected.captures.end(), match.capture),
            expected.captures.end());
  EXPECT_EQ(match.has_arguments,
            !Differ(captures, expected.captures, &CapturedSequence::arguments));
  const Names& captured = captures[match.capture].names;
  if (match.fit == CaptureFit::kExact) {
    EXPECT_EQ(match.pairs.size(), names.size());
  } else {
    EXPECT_EQ(match.pairs.size(), LongestCommon(names, captured));
    ExpectCommon(names, captured, match.pairs);
  }
}

TEST(CapturesTwin, MatchesAreThoseOfASearchThroughAllCaptures) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const uint64_t texts = 1 + random.Below(8);
    const std::vector<CapturedSequence> captures = RandomCaptures(random, texts);
    CaptureMatcher matcher(captures);
    for (int launch = 0; launch < 6; ++launch) {
      Names names = Changed(random, captures[random.Below(captures.size())].names, texts);
      std::replace(names.begin(), names.end(), kUnknownName, uint32_t{0});
      if (names.empty()) continue;
      CheckMatch(captures, names, matcher.Match(names));
    }
  }
}

// Launches with the same kernels are the captures in turn.
TEST(CapturesTwin, EqualCapturesAreTakenInTurn) {
  const std::vector<CapturedSequence> captures(3, {{1, 2}, {5, 6}, {7, 8, 9, 9}});
  CaptureMatcher matcher(captures);
  for (uint32_t launch = 0; launch < 7; ++launch) {
    EXPECT_EQ(matcher.Match({1, 2}).capture, launch % 3);
  }
}

}  // namespace
}  // namespace borescope::internal
