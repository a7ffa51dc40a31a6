#include "borescope/analysis/measures/counter_join/join_sequences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace borescope::internal {
namespace {

// Kernels by letters: each letter is a key, and a token.
std::vector<CountedItem> Counted(std::string_view letters) {
  std::vector<CountedItem> items;
  for (const char letter : letters) {
    items.push_back({.key = static_cast<uint32_t>(letter), .token = static_cast<uint32_t>(letter)});
  }
  return items;
}
// Digits after a letter are its signature: "ab1b2".
std::vector<TracedItem> Traced(std::string_view letters) {
  std::vector<TracedItem> items;
  for (const char letter : letters) {
    if (letter >= '0' && letter <= '9') {
      items.back().signature = static_cast<uint32_t>(letter - '0');
    } else {
      const auto key = static_cast<uint32_t>(letter);
      items.push_back({.key = key, .token = key, .ns = 1000});
    }
  }
  return items;
}

uint32_t Below(std::mt19937& random, uint32_t limit) {
  return static_cast<uint32_t>(random() % limit);
}

int ScoreOf(const std::vector<ItemPair>& pairs) {
  int score = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool goes_on = i > 0 && pairs[i].counted == pairs[i - 1].counted + 1 &&
                         pairs[i].traced == pairs[i - 1].traced + 1;
    score += goes_on ? 10 : 7;
  }
  return score;
}

// Every matching there is, one after the other.
int BestOfAll(const std::vector<CountedItem>& counted, const std::vector<TracedItem>& traced,
              std::vector<ItemPair>& so_far) {
  int best = ScoreOf(so_far);
  const uint32_t begin = so_far.empty() ? 0 : so_far.back().counted + 1;
  const uint32_t begin_traced = so_far.empty() ? 0 : so_far.back().traced + 1;
  for (uint32_t i = begin; i < counted.size(); ++i) {
    for (uint32_t j = begin_traced; j < traced.size(); ++j) {
      if (counted[i].token != traced[j].token || !PassesGate(counted[i], traced[j])) continue;
      so_far.push_back({i, j});
      best = std::max(best, BestOfAll(counted, traced, so_far));
      so_far.pop_back();
    }
  }
  return best;
}

void ExpectInOrder(const std::vector<ItemPair>& pairs) {
  for (size_t i = 1; i < pairs.size(); ++i) {
    EXPECT_LT(pairs[i - 1].counted, pairs[i].counted);
    EXPECT_LT(pairs[i - 1].traced, pairs[i].traced);
  }
}

TEST(AlignItems, IsTheBestOfAllMatchings) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    std::string a(Below(random, 7), 'a');
    std::string b(Below(random, 7), 'a');
    for (char& letter : a) letter = static_cast<char>('a' + Below(random, 3));
    for (char& letter : b) letter = static_cast<char>('a' + Below(random, 3));
    std::vector<CountedItem> counted = Counted(a);
    const std::vector<TracedItem> traced = Traced(b);
    for (CountedItem& item : counted) {
      if (Below(random, 8) == 0) item.ns = 1e6;  // too long to be any of them
    }
    const std::vector<ItemPair> pairs = AlignItems(counted, traced);
    std::vector<ItemPair> none;
    EXPECT_EQ(ScoreOf(pairs), BestOfAll(counted, traced, none)) << a << " " << b;
    ExpectInOrder(pairs);
    for (const ItemPair& pair : pairs) {
      EXPECT_EQ(counted[pair.counted].token, traced[pair.traced].token);
      EXPECT_TRUE(PassesGate(counted[pair.counted], traced[pair.traced]));
    }
  }
}

TEST(AlignItems, TakesTheLastOfEquals) {
  const std::vector<ItemPair> warm = {{3, 0}, {4, 1}, {5, 2}};
  EXPECT_EQ(AlignItems(Counted("abcabc"), Traced("abc")), warm);
  const std::vector<ItemPair> last = {{0, 2}};
  EXPECT_EQ(AlignItems(Counted("a"), Traced("aaa")), last);
}

// 1 2 1 3 2 4 3 5 ...: of a piece the tokens at its ends alone occur once, so that each cut takes
// little. All pairs that there are would be as many as items; the work stays that of some cuts.
TEST(AlignItems, LittleByLittleIsNotCutForEver) {
  constexpr uint32_t kTokens = 20'000;
  std::vector<CountedItem> counted;
  std::vector<TracedItem> traced;
  for (uint32_t token = 0; token < kTokens; ++token) {
    for (const uint32_t one : {token + 1, token > 0 ? token - 1 : kTokens + 1}) {
      counted.emplace_back().token = one;
      traced.emplace_back().token = one;
    }
  }
  const std::vector<ItemPair> pairs = AlignItems(counted, traced, 16);
  EXPECT_FALSE(pairs.empty());
  EXPECT_LT(pairs.size(), counted.size() / 10);
  for (const ItemPair& pair : pairs) {
    EXPECT_EQ(pair.counted, pair.traced);
  }
}

TEST(AlignItems, FixesUniqueTokensWhereTheTableWouldBeTooLarge) {
  // Without the fixed x and y, 7 * 7 cells are too many for 12; between them there are few.
  const std::string letters = "aaxbbya";
  const std::vector<ItemPair> pairs = AlignItems(Counted(letters), Traced(letters), 12);
  EXPECT_EQ(pairs.size(), letters.size());
  ExpectInOrder(pairs);
  EXPECT_TRUE(AlignItems(Counted("aaaa"), Traced("aaaa"), 12).empty());
  // Crossed unique tokens: as many as keep the order.
  EXPECT_EQ(AlignItems(Counted("xyz"), Traced("zxy"), 3).size(), 2U);
}

std::string SourcesOf(const SequenceJoin& join) {
  std::string text;
  for (const JoinedItem& item : join.items) {
    text += std::string(text.empty() ? "" : " ") + std::string(JoinSourceName(item.source));
  }
  return text;
}

TEST(JoinSequences, MatchesAWholeStepWithEachOfSeveral) {
  std::vector<TracedItem> traced = Traced("abcdabcd");
  for (size_t j = 0; j < traced.size(); ++j) {
    traced[j].segment = static_cast<uint32_t>(j / 4);
  }
  const SequenceJoin join = JoinSequences(Counted("abcd"), traced, true);
  EXPECT_EQ(SourcesOf(join), "order order order order order order order order");
  ASSERT_EQ(join.groups.size(), 4U);
  EXPECT_EQ(join.items[5].group, join.items[1].group);
}

TEST(JoinSequences, DoesNotMatchWhatMightBeSwapped) {
  // One of the two products b was not counted: nothing shows which, as they look the same.
  const SequenceJoin join = JoinSequences(Counted("aaabcdaa"), Traced("aaab1b2cdaa"), true);
  EXPECT_EQ(SourcesOf(join), "order order order ambiguous ambiguous order order order order");
}

TEST(JoinSequences, OneOfEachKeyProvesNothingOfASecondSignature) {
  const SequenceJoin join = JoinSequences(Counted("abc"), Traced("ab1cb2"), true);
  EXPECT_EQ(SourcesOf(join), "order ambiguous order ambiguous");
}

TEST(JoinSequences, SharesWhatTheSameWorkTook) {
  // The last b has a signature that was matched; d was not counted; two pairs alone prove nothing.
  const SequenceJoin join = JoinSequences(Counted("aabcaa"), Traced("aab1caadb1"), true);
  EXPECT_EQ(SourcesOf(join), "order order order order order order none broadcast");
  EXPECT_EQ(join.items[7].group, join.items[2].group);
  const SequenceJoin two = JoinSequences(Counted("aabb"), Traced("caac"), true);
  EXPECT_EQ(SourcesOf(two), "none broadcast broadcast none");
}

TEST(JoinSequences, AnotherTimeIsOtherWork) {
  std::vector<CountedItem> counted = Counted("abc");
  for (CountedItem& item : counted) item.ns = 1200;
  std::vector<TracedItem> traced = Traced("abc");
  traced[1].ns = 5000;
  EXPECT_EQ(SourcesOf(JoinSequences(counted, traced, true)), "order other work order");
}

TEST(JoinSequences, WithoutShapesTimesThatDifferAreAmbiguous) {
  std::vector<TracedItem> traced = Traced("abcxbxb");
  traced[6].ns = 9000;
  const std::vector<CountedItem> counted = Counted("abcb");
  EXPECT_EQ(SourcesOf(JoinSequences(counted, traced, false)),
            "order order order none ambiguous none ambiguous");
}

TEST(JoinSequences, CandidatesThatDidOtherWorkAreAmbiguous) {
  std::vector<CountedItem> counted = Counted("abab");
  counted[1].tensor_flops = 100;
  counted[3].tensor_flops = 103;
  EXPECT_EQ(SourcesOf(JoinSequences(counted, Traced("xbx"), true)), "none ambiguous none");
  counted[3].tensor_flops = 101;
  const SequenceJoin join = JoinSequences(counted, Traced("xbx"), true);
  EXPECT_EQ(SourcesOf(join), "none broadcast none");
  EXPECT_EQ(join.groups[join.items[1].group], (std::vector<uint32_t>{1, 3}));
}

TEST(JoinSequences, LabelsTellKernelsApart) {
  std::vector<CountedItem> counted = Counted("aa");
  std::vector<TracedItem> traced = Traced("aa");
  counted[0].token = traced[1].token = 7;
  traced[1].is_labelled = true;
  EXPECT_EQ(SourcesOf(JoinSequences(counted, traced, true)), "broadcast range");
}

TEST(JoinSequences, StreamsOfOneProgramAreMatchedAloneWhereTheirOrderDiffers) {
  // Both streams keep their order; between them it differs from run to run.
  std::vector<CountedItem> counted = Counted("abcdefuvwxyz");
  std::vector<TracedItem> traced = Traced("uvwxyzabcdef");
  for (size_t i = 0; i < counted.size(); ++i) {
    counted[i].stream = i < 6 ? 7 : 13;
    traced[i].stream = i < 6 ? 13 : 7;
  }
  const SequenceJoin join = JoinSequences(counted, traced, true);
  EXPECT_EQ(join.pairs.size(), 12U);
}

// A program that repeats: layers of kernels whose keys are few and whose work differs.

struct Program {
  std::vector<CountedItem> counted;    // one step
  std::vector<uint32_t> counted_work;  // signatures, which a report does not have
  std::vector<TracedItem> traced;      // several steps
};

Program RandomProgram(std::mt19937& random) {
  Program program;
  const uint32_t layers = 3 + Below(random, 4);
  const uint32_t kernels = 10 + Below(random, 20);
  std::vector<TracedItem> step;
  std::vector<TracedItem> layer;
  for (uint32_t k = 0; k < kernels; ++k) {
    const uint32_t key = Below(random, 12);
    layer.push_back({.key = key, .token = key, .signature = Below(random, 4), .ns = 0});
    layer.back().ns = 2000 + 500 * static_cast<int64_t>(layer.back().signature);
  }
  for (uint32_t i = 0; i < layers; ++i) {
    step.insert(step.end(), layer.begin(), layer.end());
  }
  for (uint32_t segment = 0; segment < 3; ++segment) {
    for (TracedItem item : step) {
      item.segment = segment;
      program.traced.push_back(item);
    }
  }
  for (const TracedItem& item : step) {
    program.counted.push_back(
        {.key = item.key, .token = item.token, .ns = static_cast<double>(item.ns) * 1.2 + 300});
    program.counted_work.push_back(item.signature);
  }
  return program;
}

// Leaves out each counted kernel with a probability of `percent`.
Program Without(const Program& program, unsigned percent, std::mt19937& random) {
  Program kept;
  kept.traced = program.traced;
  for (size_t i = 0; i < program.counted.size(); ++i) {
    if (Below(random, 100) < percent) continue;
    kept.counted.push_back(program.counted[i]);
    kept.counted_work.push_back(program.counted_work[i]);
  }
  return kept;
}

struct Shares {
  double valued = 0;
  double wrong = 0;
};

Shares SharesOf(const Program& program) {
  const SequenceJoin join = JoinSequences(program.counted, program.traced, true);
  Shares shares;
  for (size_t j = 0; j < join.items.size(); ++j) {
    if (!HasCounters(join.items[j].source)) continue;
    const std::vector<uint32_t>& group = join.groups[join.items[j].group];
    shares.valued += 1;
    const bool is_right = std::all_of(group.begin(), group.end(), [&](uint32_t i) {
      return program.counted_work[i] == program.traced[j].signature;
    });
    shares.wrong += is_right ? 0 : 1;
  }
  shares.valued /= static_cast<double>(join.items.size());
  shares.wrong /= static_cast<double>(join.items.size());
  // Pairs of one segment never cross.
  for (size_t i = 1; i < join.pairs.size(); ++i) {
    const bool is_same = program.traced[join.pairs[i].traced].segment ==
                         program.traced[join.pairs[i - 1].traced].segment;
    EXPECT_TRUE(!is_same || join.pairs[i - 1].counted < join.pairs[i].counted);
  }
  return shares;
}

TEST(JoinSequences, CountersOfOtherWorkAreHardlyEverTaken) {
  std::mt19937 random(3);
  double wrong_of_missing = 0;
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    const Program program = RandomProgram(random);
    const Shares whole = SharesOf(program);
    EXPECT_EQ(whole.valued, 1) << round;
    EXPECT_EQ(whole.wrong, 0) << round;
    const Shares most = SharesOf(Without(program, 5, random));
    EXPECT_GE(most.valued, 0.8) << round;
    wrong_of_missing += most.wrong;
  }
  EXPECT_LE(wrong_of_missing / kRounds, 0.02);
}

}  // namespace
}  // namespace borescope::internal
