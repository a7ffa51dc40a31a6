// Which calls of several ranks are one collective.
#include "borescope/analysis/measures/matching/match_calls.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)";

CollectiveArgs Message(int64_t elems, int64_t group_size = 2) {
  CollectiveArgs args{"allreduce", elems, elems};
  args.group_size = group_size;
  args.members = "[0, 1]";
  return args;
}

CollectiveArgs Numbered(int64_t number, int64_t elems) {
  CollectiveArgs args = Message(elems);
  args.sequence = number;
  return args;
}

// Ranks 0, 1, ... each with the traces given, in words: "position: ranks", with "?" where it is not
// certain that they are one; ranks by number and begin.
std::string Matched(const std::vector<std::unique_ptr<TestTrace>>& traces) {
  std::vector<Tables> mapped;
  for (size_t rank = 0; rank < traces.size(); ++rank) {
    mapped.push_back(
        FindRankCalls(traces[rank]->View(static_cast<int>(rank)), Selection()).value().tables);
  }
  const Tables tables = ConcatTables(mapped, {}).value();
  const CollectiveKeys keys(tables[1]);
  const std::vector<MatchedCall> sorted = SortedCalls(tables[2], keys, PlacesOfRanks(tables[0]));
  std::string text;
  ForEachCollective(sorted, keys, [&](std::span<const MatchedCall> calls, bool is_matched) {
    text += std::to_string(calls.front().position) + (is_matched ? ":" : "?");
    for (const MatchedCall& call : calls) {
      text += " " + std::to_string(call.score) + "@" + std::to_string(call.begin_ns);
    }
    text += "\n";
  });
  return text;
}

std::vector<std::unique_ptr<TestTrace>> Ranks(size_t count) {
  std::vector<std::unique_ptr<TestTrace>> traces;
  for (size_t i = 0; i < count; ++i) traces.push_back(std::make_unique<TestTrace>());
  return traces;
}

// Numbers decide, wherever in time and under whatever kernel.
TEST(MatchCalls, SequenceNumbersDecide) {
  const auto traces = Ranks(2);
  traces[0]->Kernel(kReduce, {0, 50}, {1, 20, 0}, Numbered(7, 10));
  traces[0]->Kernel(kReduce, {100, 50}, {2, 20, 0}, Numbered(8, 99));
  traces[1]->Kernel("ncclDevKernel_AllReduce_Sum_f32_TREE_LL(args)", {900, 50}, {1, 20, 0},
                    Numbered(8, 99));
  traces[1]->Kernel(kReduce, {990, 50}, {2, 20, 0}, Numbered(9, 10));
  EXPECT_EQ(Matched(traces), "7? 0@0\n8: 0@100 1@900\n9? 1@990\n");
}

// Without numbers the places among calls of one size do.
TEST(MatchCalls, PlacesAmongCallsOfOneSize) {
  const auto traces = Ranks(2);
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t at = 1000 * i;
    traces[static_cast<size_t>(i)]->Kernel(kReduce, {at, 50}, {1, 20, 0}, Message(10));
    traces[static_cast<size_t>(i)]->Kernel(kReduce, {at + 60, 50}, {2, 20, 0}, Message(77));
    traces[static_cast<size_t>(i)]->Kernel(kReduce, {at + 120, 50}, {3, 20, 0}, Message(10));
  }
  EXPECT_EQ(Matched(traces), "0: 0@0 1@1000\n1: 0@120 1@1120\n0: 0@60 1@1060\n");
}

// A rank that holds more of them may have recorded an earlier one: which is which is not known.
TEST(MatchCalls, DifferentCountsAreNotMatched) {
  const auto traces = Ranks(2);
  traces[0]->Kernel(kReduce, {0, 50}, {1, 20, 0}, Message(10));
  traces[0]->Kernel(kReduce, {60, 50}, {2, 20, 0}, Message(10));
  traces[1]->Kernel(kReduce, {60, 50}, {1, 20, 0}, Message(10));
  EXPECT_EQ(Matched(traces), "0? 0@0 1@60\n1? 0@60\n");
}

// Three ranks in a group of two: two groups have one name.
TEST(MatchCalls, MoreRanksThanTheGroupHasAreNotMatched) {
  const auto traces = Ranks(3);
  for (const auto& trace : traces) trace->Kernel(kReduce, {5, 50}, {1, 20, 0}, Numbered(1, 10));
  EXPECT_EQ(Matched(traces), "1? 0@5 1@5 2@5\n");
}

// Several kernels of one number are one call, from the first begin to the last end.
TEST(MatchCalls, SeveralKernelsOfOneRankAreOneCall) {
  const auto traces = Ranks(2);
  traces[0]->Kernel(kReduce, {30, 50}, {1, 20, 0}, Numbered(1, 10));
  traces[0]->Kernel(kReduce, {10, 15}, {2, 20, 0}, Numbered(1, 10));
  traces[1]->Kernel(kReduce, {12, 60}, {1, 20, 0}, Numbered(1, 10));
  EXPECT_EQ(Matched(traces), "1: 0@10 1@12\n");
}

}  // namespace
}  // namespace borescope::internal
