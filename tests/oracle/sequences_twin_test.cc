// Patterns under operators against a slow twin: every piece of work looks for the outermost
// operator around its launch.

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "borescope/analysis/core/param_specs.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::kNoCall;
using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RunCall;
using testkit::RunFrame;
using testkit::RunSelection;
using testkit::RunWork;
using testkit::TableOf;
using testkit::TraceOf;
using testkit::TryAsk;

// Without a text operators only, with one annotations as well.
bool Fits(const RunFrame& frame, const std::string& text) {
  const bool is_note = frame.kind == HostKind::kAnnotation && !text.empty();
  return (frame.kind == HostKind::kOp || is_note) && frame.name.find(text) != std::string::npos;
}

// Of the frames around the call that fit, the one that begins first; of those the longest, then the
// outer kind, then the earlier one.
const RunFrame* Outermost(const RandomRun& run, const RunCall& call, const std::string& text) {
  const RunFrame* found = nullptr;
  for (const RunFrame& frame : run.frames) {
    if (frame.thread != call.thread || !frame.time.Covers(call.time) || !Fits(frame, text)) {
      continue;
    }
    const auto depth = [](const RunFrame& one) {
      return std::tuple(one.time.begin, -one.time.end, one.kind);
    };
    if (found == nullptr || depth(frame) < depth(*found)) {
      found = &frame;
    }
  }
  return found;
}

struct Pattern {
  int64_t count = 0;
  int64_t device = 0;
  int64_t host = 0;
};

using Occurrences = std::map<const RunFrame*, std::vector<const RunWork*>>;

Occurrences OccurrencesOf(const RandomRun& run, const RunSelection& selection,
                          const std::string& text) {
  Occurrences occurrences;
  for (const RunWork& work : run.work) {
    const RunFrame* frame = work.call == kNoCall || !selection.Keeps(work)
                                ? nullptr
                                : Outermost(run, run.calls[static_cast<size_t>(work.call)], text);
    if (frame != nullptr && selection.KeepsTime(frame->time.begin)) {
      occurrences[frame].push_back(&work);
    }
  }
  for (auto& [frame, works] : occurrences) {
    std::stable_sort(works.begin(), works.end(), [](const RunWork* a, const RunWork* b) {
      const auto key = [](const RunWork* work) {
        return std::tuple(work->time.begin, work->gpu, work->stream, -work->time.length(),
                          work->kind);
      };
      return key(a) < key(b);
    });
  }
  return occurrences;
}

Lines TwinOf(const Occurrences& occurrences, int64_t min_length) {
  std::map<std::tuple<std::string, std::string, int64_t>, Pattern> patterns;
  for (const auto& [frame, works] : occurrences) {
    const auto length = static_cast<int64_t>(works.size());
    if (length < min_length) {
      continue;
    }
    std::string names;
    int64_t device = 0;
    for (const RunWork* work : works) {
      names += (names.empty() ? "" : "|") + work->name;
      device += work->time.length();
    }
    Pattern& pattern = patterns[{frame->name, names, length}];
    ++pattern.count;
    pattern.device += device;
    pattern.host += frame->time.length();
  }
  Lines lines;
  for (const auto& [key, pattern] : patterns) {
    const auto& [name, names, length] = key;
    lines.insert(Line(name, names, length, pattern.count, pattern.device, pattern.host));
  }
  return lines;
}

TEST(SequencesTwinTest, EveryPatternUnderItsOperator) {
  static const std::string kTexts[] = {"", "aten::", "aten::linear", "ward", "nobody"};
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    const std::string& text = random.Pick(kTexts);
    const int64_t min_length = random.Between(1, 4);
    params.values = {{kOperatorParam.name, 0, text}, {kMinLengthParam.name, min_length, ""}};
    const Lines want = TwinOf(OccurrencesOf(run, selection, text), min_length);
    const Result<Tables> found = TryAsk("sequences", TraceOf(run), params);
    if (want.empty()) {
      EXPECT_EQ(found.error().code, ErrorCode::kMissingData);
      continue;
    }
    ASSERT_TRUE(found.ok()) << found.error().Sentence();
    EXPECT_EQ(LinesOf(TableOf(*found, "sequences"),
                      {"operator", "pattern", "kernels", "count", "device_ns", "host_ns"}),
              want);
  }
}

}  // namespace
}  // namespace borescope::internal
