// Single bytes of a file go wrong: the result is an error or a trace that keeps its laws, soon; and
// a damaged event costs at most itself and its neighbours.

#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "borescope/ingest/load.h"
#include "tests/oracle/random.h"
#include "tests/property/invariants.h"
#include "tests/property/synthetic.h"

namespace borescope::internal {
namespace {

using testkit::Gzip;
using testkit::Random;
using testkit::Synthetic;
using testkit::WhatIsWrongWith;
using testkit::Writer;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

uint64_t EventsIn(const Trace& trace) {
  uint64_t count = 0;
  for (const EventCount& events : trace.event_counts()) {
    count += events.count;
  }
  return count;
}

// Loads, indexes and checks; the number of events read, or -1 after an error.
int64_t Survive(const std::string& bytes) {
  const double begin = CpuSeconds();
  const Result<Trace> trace = LoadBytes(bytes, "a.json", {});
  int64_t events = -1;
  if (trace.ok()) {
    EXPECT_EQ(WhatIsWrongWith(*trace), "");
    EXPECT_EQ(WhatIsWrongWith(*trace, BuildIndex(*trace, 1)), "");
    events = static_cast<int64_t>(EventsIn(*trace));
  } else {
    EXPECT_TRUE(trace.error().Sentence().starts_with("a.json: ")) << trace.error().Sentence();
  }
  EXPECT_LT(CpuSeconds() - begin, 20);  // a few hundredths on a free machine
  return events;
}

// One way to damage a text at a place.
struct Damage {
  const char* name;
  std::function<std::string(std::string, size_t, Random&)> apply;
};

const Damage kDamages[] = {
    {"a flipped bit",
     [](std::string text, size_t at, Random& random) {
       text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
       return text;
     }},
    {"a deleted byte", [](std::string text, size_t at, Random&) { return text.erase(at, 1); }},
    {"a doubled byte",
     [](std::string text, size_t at, Random&) { return text.insert(at, 1, text[at]); }},
    {"an inserted byte",
     [](std::string text, size_t at, Random& random) {
       static constexpr std::string_view kBytes = "\"\\{}[],: \n0-.eNt\xff\x80\x01\t";
       return text.insert(at, 1, random.Pick(kBytes));
     }},
    {"a zero byte", [](std::string text, size_t at, Random&) { return text[at] = '\0', text; }},
    {"a lost piece", [](std::string text, size_t at,
                        Random& random) { return text.erase(at, 1 + random.Below(60)); }},
    {"a doubled piece",
     [](std::string text, size_t at, Random& random) {
       const std::string piece = text.substr(at, 1 + random.Below(60));
       return text.insert(at, piece);
     }},
    {"an escaped byte",
     [](std::string text, size_t at, Random&) { return text.insert(at, 1, '\\'); }},
};

class DamageTest : public testing::TestWithParam<Writer> {};

INSTANTIATE_TEST_SUITE_P(Writers, DamageTest, testing::ValuesIn(testkit::kWriters),
                         [](const auto& test) {
                           std::string name = testkit::NameOf(test.param);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST_P(DamageTest, ToEventsCostsOnlyTheNearestOnes) {
  const Synthetic synthetic(GetParam());
  const std::string text = synthetic.Text();
  const auto all = static_cast<int64_t>(synthetic.events().size());
  const size_t begin = synthetic.Head().size();
  const size_t end = text.size() - synthetic.Tail().size();
  Random random(31);
  for (const Damage& damage : kDamages) {
    // A list must begin with an event: its first brace is what it is recognised by.
    for (size_t at = begin + 1; at < end; at += 1 + random.Below(10)) {
      SCOPED_TRACE(std::string(damage.name) + " at byte " + std::to_string(at));
      const int64_t events = Survive(damage.apply(text, at, random));
      EXPECT_GE(events, all - 3);
      EXPECT_LE(events, all + 1);
    }
  }
}

TEST_P(DamageTest, AnywhereIsSurvived) {
  const std::string text = Synthetic(GetParam()).Text();
  Random random(32);
  for (const Damage& damage : kDamages) {
    for (size_t at = 0; at < text.size(); at += 1 + random.Below(40)) {
      SCOPED_TRACE(std::string(damage.name) + " at byte " + std::to_string(at));
      std::string damaged = damage.apply(text, at, random);
      for (uint64_t more = random.Below(4); more > 0; --more) {
        damaged = random.Pick(kDamages).apply(damaged, random.Below(damaged.size()), random);
      }
      Survive(damaged);
    }
  }
}

TEST_P(DamageTest, ToAGzipFileIsSurvived) {
  const std::string bytes = Gzip(Synthetic(GetParam()).Text());
  Random random(33);
  for (const Damage& damage : kDamages) {
    for (size_t at = 0; at < bytes.size(); at += 1 + random.Below(6)) {
      SCOPED_TRACE(std::string(damage.name) + " at byte " + std::to_string(at));
      Survive(damage.apply(bytes, at, random));
    }
  }
}

// All double quotes of a stretch become single ones, as a careless rewriter does it.
TEST_P(DamageTest, SwappedQuotesAreSurvived) {
  const Synthetic synthetic(GetParam());
  const std::string text = synthetic.Text();
  const std::vector<size_t> ends = synthetic.EventEnds();
  for (size_t event = 1; event < ends.size(); ++event) {
    SCOPED_TRACE("event " + std::to_string(event));
    std::string damaged = text;
    std::replace(damaged.begin() + static_cast<ptrdiff_t>(ends[event - 1]),
                 damaged.begin() + static_cast<ptrdiff_t>(ends[event]), '"', '\'');
    EXPECT_EQ(Survive(damaged), static_cast<int64_t>(ends.size()) - 1);
  }
}

}  // namespace
}  // namespace borescope::internal
