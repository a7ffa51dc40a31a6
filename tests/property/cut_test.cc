// A file may end anywhere: everything before the end is read, and what is lost is counted.

#include <gtest/gtest.h>

#include "borescope/ingest/load.h"
#include "tests/oracle/trace_text.h"
#include "tests/property/invariants.h"
#include "tests/property/synthetic.h"

namespace borescope::internal {
namespace {

using testkit::FirstDifference;
using testkit::Gzip;
using testkit::Synthetic;
using testkit::TablesOf;
using testkit::WhatIsWrongWith;
using testkit::Writer;

class CutTest : public testing::TestWithParam<Writer> {
 protected:
  CutTest() : synthetic_(GetParam()), text_(synthetic_.Text()), ends_(synthetic_.EventEnds()) {
    for (size_t count = 0; count <= ends_.size(); ++count) {
      prefixes_.push_back(TablesOf(*LoadBytes(synthetic_.Text(count), "a.json", {})));
    }
  }

  // How many events end in the first `size` bytes of the text.
  size_t CompleteIn(size_t size) const {
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), size) - ends_.begin());
  }

  // Whether the first `size` bytes end in a square bracket, braces aside.
  bool EndsInBracket(size_t size) const {
    const size_t last = text_.substr(0, size).find_last_not_of("} \n");
    return last != std::string::npos && text_[last] == ']';
  }

  Synthetic synthetic_;
  std::string text_;
  std::vector<size_t> ends_;
  std::vector<std::string> prefixes_;  // the tables of the first n events
};

INSTANTIATE_TEST_SUITE_P(Writers, CutTest, testing::ValuesIn(testkit::kWriters),
                         [](const auto& test) {
                           std::string name = testkit::NameOf(test.param);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// The cut itself must not cost anything but the event it goes through.
TEST_P(CutTest, EveryEventBeforeTheCutIsRead) {
  for (size_t cut = synthetic_.Head().size(); cut < text_.size(); cut += 5) {
    SCOPED_TRACE("cut at byte " + std::to_string(cut));
    const Result<Trace> trace = LoadBytes(text_.substr(0, cut), "a.json", {});
    ASSERT_TRUE(trace.ok()) << trace.error().Sentence();
    EXPECT_EQ(FirstDifference(TablesOf(*trace), prefixes_[CompleteIn(cut)]), "");
    EXPECT_EQ(WhatIsWrongWith(*trace), "");
    // The missing end; and the event that was cut, when its last bracket looks like the array's.
    const uint64_t losses = trace->diagnostics().count(Diag::kTruncatedFile) +
                            trace->diagnostics().count(Diag::kDroppedText);
    const bool only_blanks_lost = text_.find_first_not_of("\n", cut) == std::string::npos;
    EXPECT_GE(losses, only_blanks_lost ? 0U : 1U);
    EXPECT_LE(losses, only_blanks_lost ? 0U : EndsInBracket(cut) ? 2U : 1U);
  }
}

TEST_P(CutTest, BeforeTheEventsTheErrorIsClear) {
  for (size_t cut = 0; cut < synthetic_.Head().size(); ++cut) {
    SCOPED_TRACE("cut at byte " + std::to_string(cut));
    const Result<Trace> trace = LoadBytes(text_.substr(0, cut), "a.json", {});
    if (trace.ok()) {
      EXPECT_EQ(FirstDifference(TablesOf(*trace), prefixes_[0]), "");
      EXPECT_EQ(trace->diagnostics().count(Diag::kTruncatedFile), 1U);
    } else {
      EXPECT_TRUE(trace.error().Sentence().starts_with("a.json: ")) << trace.error().Sentence();
    }
  }
}

TEST_P(CutTest, OfACutGzipFileSomeFirstEventsAreRead) {
  const std::string bytes = Gzip(text_);
  for (size_t cut = 2; cut < bytes.size(); cut += 3) {
    SCOPED_TRACE("cut at byte " + std::to_string(cut));
    const Result<Trace> trace = LoadBytes(bytes.substr(0, cut), "a.json", {});
    if (!trace.ok()) {
      EXPECT_EQ(trace.error().code, ErrorCode::kCorrupt);
      EXPECT_NE(trace.error().Sentence().find("gzip stream ends early"), std::string::npos);
      continue;
    }
    uint64_t count = 0;
    for (const EventCount& events : trace->event_counts()) {
      count += events.count;
    }
    ASSERT_LT(count, prefixes_.size());
    EXPECT_EQ(FirstDifference(TablesOf(*trace), prefixes_[count]), "");
    EXPECT_EQ(trace->diagnostics().count(Diag::kTruncatedGzip), 1U);
  }
}

}  // namespace
}  // namespace borescope::internal
