// Waiting, bandwidth and clocks of matched collectives against a slow twin that looks at one
// collective after the other, rank by rank, in the words of docs/how-it-works/definitions.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"
#include "tests/oracle/random.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::Random;

struct OneCall {
  int64_t begin = 0;
  int64_t length = 0;
  int64_t elems = 0;
  bool has_type = true;

  int64_t end() const { return begin + length; }
};

using Collective = std::map<int64_t, OneCall>;  // by rank

struct Job {
  int64_t ranks = 0;
  std::vector<Collective> collectives;  // by sequence number
};

Job MakeJob(Random& random) {
  Job run;
  run.ranks = random.Between(2, 5);
  const int64_t count = random.Between(1, 8);
  const bool is_synchronous = random.Between(0, 2) > 0;
  for (int64_t sequence = 0; sequence < count; ++sequence) {
    Collective& collective = run.collectives.emplace_back();
    const int64_t end = 1000 * (sequence + 1);
    const bool has_type = random.Between(0, 4) > 0;
    const int64_t elems = random.Between(1, 50);
    for (int64_t rank = 0; rank < run.ranks; ++rank) {
      if (random.Between(0, 9) == 0) continue;
      const int64_t length = random.Between(0, 6) * 20;
      const int64_t off = is_synchronous ? 0 : random.Between(-200, 200);
      collective[rank] = {end - length + off, length, elems, has_type};
    }
  }
  return run;
}

std::vector<std::unique_ptr<TestTrace>> TracesOf(const Job& run) {
  std::vector<std::unique_ptr<TestTrace>> traces;
  for (int64_t rank = 0; rank < run.ranks; ++rank) {
    TestTrace& trace = *traces.emplace_back(std::make_unique<TestTrace>());
    for (size_t i = 0; i < run.collectives.size(); ++i) {
      const auto found = run.collectives[i].find(rank);
      if (found == run.collectives[i].end()) continue;
      const OneCall& call = found->second;
      CollectiveArgs args{"allreduce", call.elems, call.elems};
      args.sequence = static_cast<int64_t>(i);
      args.group_size = 8;
      if (!call.has_type) args.dtype = "Float12";
      trace.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", {call.begin, call.length},
                   {static_cast<int64_t>(i), 20, 0}, args);
    }
  }
  return traces;
}

std::vector<OneCall> CallsOf(const Collective& collective) {
  std::vector<OneCall> calls;
  for (const auto& [rank, call] : collective) {
    calls.push_back(call);
  }
  return calls;
}

template <class Value>
int64_t Least(const std::vector<OneCall>& calls, Value value) {
  int64_t least = value(calls.front());
  for (const OneCall& call : calls) least = std::min(least, value(call));
  return least;
}

template <class Value>
int64_t Most(const std::vector<OneCall>& calls, Value value) {
  return -Least(calls, [&](const OneCall& call) { return -value(call); });
}

constexpr auto kBegin = [](const OneCall& call) { return call.begin; };
constexpr auto kEnd = [](const OneCall& call) { return call.end(); };
constexpr auto kLength = [](const OneCall& call) { return call.length; };

struct RankSums {
  int64_t caused = 0;
  int64_t shown = 0;
  int64_t together = 0;
  int64_t apart = 0;
};

std::string VerdictOf(const RankSums& sums) {
  if (sums.caused == 0) return "-";
  if (sums.apart > sums.together) return "apart";
  return sums.shown >= sums.caused / 2 ? "agree" : "contradict";
}

// What the ranks that came last in one collective caused, and what clocks show of it.
void Blame(const Collective& collective, std::map<int64_t, RankSums>& ranks) {
  const std::vector<OneCall> calls = CallsOf(collective);
  const int64_t shortest = Least(calls, kLength);
  int64_t last_begin = std::numeric_limits<int64_t>::min();
  std::vector<int64_t> last;
  for (const auto& [rank, call] : collective) {
    if (call.length != shortest) continue;
    last.push_back(rank);
    last_begin = std::max(last_begin, call.begin);
  }
  int64_t waited = 0;
  int64_t shown = 0;
  for (const OneCall& call : calls) {
    waited += call.length - shortest;
    const int64_t earlier = std::max<int64_t>(0, last_begin - call.begin);
    shown += std::min(earlier, call.length - shortest);
  }
  if (waited == 0) return;
  const auto parts = static_cast<int64_t>(last.size());
  for (const int64_t rank : last) {
    RankSums& sums = ranks[rank];
    const bool is_first = rank == last.front();
    sums.caused += waited / parts + (is_first ? waited % parts : 0);
    sums.shown += shown / parts + (is_first ? shown % parts : 0);
    ++(Most(calls, kBegin) <= Least(calls, kEnd) ? sums.together : sums.apart);
  }
}

struct RateSums {
  int64_t count = 0, total = 0, waited = 0, bytes = 0, sized = 0;
  int64_t shared = 0, shared_bytes = 0, shared_sized = 0;
  int64_t begin_skew = 0, end_skew = 0;
};

void AddRates(const std::vector<OneCall>& calls, RateSums& sums) {
  const int64_t shortest = Least(calls, kLength);
  ++sums.count;
  for (const OneCall& call : calls) {
    sums.total += call.length;
    sums.waited += call.length - shortest;
    sums.sized += call.has_type ? call.length : 0;
    sums.bytes += call.has_type ? 4 * call.elems : 0;
  }
  const OneCall& any = calls.front();  // all have the same size
  sums.shared += shortest;
  sums.shared_sized += any.has_type ? shortest : 0;
  sums.shared_bytes += any.has_type ? 4 * any.elems : 0;
  sums.begin_skew = std::max(sums.begin_skew, Most(calls, kBegin) - Least(calls, kBegin));
  sums.end_skew = std::max(sums.end_skew, Most(calls, kEnd) - Least(calls, kEnd));
}

std::string Quotient(int64_t part, int64_t whole) {
  return whole == 0 ? "-" : testkit::Cell(static_cast<double>(part) / static_cast<double>(whole));
}

// Not where more than a tenth of the time has no size.
std::string Rate(int64_t bytes, int64_t sized, int64_t all) {
  return sized == 0 || 10 * (all - sized) > all ? "-" : Quotient(bytes, sized);
}

Tables AskAll(const std::vector<std::unique_ptr<TestTrace>>& traces) {
  const AnalysisSpec* spec = FindAnalysis("stragglers");
  std::vector<Tables> mapped;
  for (size_t rank = 0; rank < traces.size(); ++rank) {
    mapped.push_back(spec->answer.map(traces[rank]->View(static_cast<int64_t>(rank)), {}).value());
  }
  return spec->answer.finish(spec->answer.reduce(mapped, {}).value(), {}).value();
}

TEST(StragglersTwinTest, OneCollectiveAfterTheOther) {
  for (uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Job run = MakeJob(random);
    std::map<int64_t, RankSums> ranks;
    RateSums rates;
    for (int64_t rank = 0; rank < run.ranks; ++rank) ranks[rank];
    for (const Collective& collective : run.collectives) {
      if (collective.size() < 2) continue;
      Blame(collective, ranks);
      AddRates(CallsOf(collective), rates);
    }
    Lines want_ranks;
    for (const auto& [rank, sums] : ranks) {
      want_ranks.insert(Line(rank, sums.caused, sums.shown, VerdictOf(sums)));
    }
    Lines want_rates;
    if (rates.count > 0) {
      want_rates.insert(Line(rates.count, rates.total, rates.shared, rates.waited,
                             Quotient(rates.waited, rates.total),
                             Rate(rates.bytes, rates.sized, rates.total),
                             Rate(rates.shared_bytes, rates.shared_sized, rates.shared),
                             Quotient(rates.sized, rates.total), rates.begin_skew, rates.end_skew));
    }
    const Tables found = AskAll(TracesOf(run));
    EXPECT_EQ(LinesOf(found[0], {"rank", "caused_wait_ns", "clock_wait_ns", "clocks"}), want_ranks);
    EXPECT_EQ(
        LinesOf(found[2], {"count", "total_ns", "shared_ns", "waited_ns", "wait_share", "algo_gbps",
                           "shared_algo_gbps", "coverage", "max_begin_skew_ns", "max_end_skew_ns"}),
        want_rates);
  }
}

}  // namespace
}  // namespace borescope::internal
