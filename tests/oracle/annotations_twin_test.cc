// Annotations and the work under them against a slow twin: every piece of work looks at all
// annotations there are.

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::Innermost;
using testkit::kNoCall;
using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RunFrame;
using testkit::RunNote;
using testkit::RunSelection;
using testkit::RunWork;
using testkit::TableOf;
using testkit::TraceOf;

// Up to its end; without length (clocks of whole microseconds) at its instant.
bool Holds(const RunNote& note, int64_t ns) {
  return note.time.begin <= ns &&
         (ns < note.time.end || (ns == note.time.end && note.time.length() == 0));
}

// Of the annotations on the stream that hold the begin of the work, the one begun last; of those
// the shortest, then the later one.
const RunNote* NoteAround(const RandomRun& run, const RunWork& work) {
  const RunNote* found = nullptr;
  for (const RunNote& note : run.notes) {
    const bool on_stream = note.gpu == work.gpu && note.stream == work.stream;
    const bool holds = Holds(note, work.time.begin);
    const auto depth = [](const RunNote& one) { return std::tuple(one.time.begin, -one.time.end); };
    if (on_stream && holds && (found == nullptr || depth(*found) <= depth(note))) {
      found = &note;
    }
  }
  return found;
}

// Side and name.
std::pair<std::string, std::string> LeafOf(const RandomRun& run, const RunWork& work) {
  const RunNote* note = NoteAround(run, work);
  if (note != nullptr) {
    return {"device", note->name};
  }
  if (work.call == kNoCall) {
    return {"none", "-"};
  }
  const RunFrame* frame =
      Innermost(run, run.calls[static_cast<size_t>(work.call)],
                [](const RunFrame& one) { return one.kind == HostKind::kAnnotation; });
  return frame == nullptr ? std::pair<std::string, std::string>{"none", "-"}
                          : std::pair<std::string, std::string>{"host", frame->name};
}

struct Sums {
  int64_t count = 0;
  int64_t total = 0;
  int64_t min = testkit::kRunEnd;
  int64_t max = 0;

  void Add(int64_t ns) {
    ++count;
    total += ns;
    min = std::min(min, ns);
    max = std::max(max, ns);
  }
};

Lines TwinOfKernels(const RandomRun& run, const RunSelection& selection) {
  std::map<std::tuple<std::string, std::string, std::string>, Sums> rows;
  for (const RunWork& work : run.work) {
    if (selection.Keeps(work) && selection.KeepsTime(RequestTime(run, work))) {
      const auto [side, name] = LeafOf(run, work);
      rows[{side, name, work.name}].Add(work.time.length());
    }
  }
  Lines lines;
  for (const auto& [key, sums] : rows) {
    const auto& [side, name, work] = key;
    lines.insert(Line(side, name, work, sums.count, sums.total, sums.min, sums.max));
  }
  return lines;
}

// Those of the device belong to the window in which the first work they hold was launched, or that
// they begin in.
int64_t RequestTimeOf(const RandomRun& run, const RunNote& note) {
  const RunWork* first = nullptr;
  for (const RunWork& work : run.work) {
    const bool inside =
        work.gpu == note.gpu && work.stream == note.stream && Holds(note, work.time.begin);
    const auto key = [](const RunWork& one) {
      return std::tuple(one.time.begin, -one.time.length(), one.kind);
    };
    if (inside && (first == nullptr || key(work) < key(*first))) {
      first = &work;
    }
  }
  return first == nullptr ? note.time.begin : RequestTime(run, *first);
}

Lines TwinOfAnnotations(const RandomRun& run, const RunSelection& selection) {
  std::map<std::pair<std::string, std::string>, Sums> rows;
  for (const RunFrame& frame : run.frames) {
    if (frame.kind == HostKind::kAnnotation && selection.KeepsTime(frame.time.begin)) {
      rows[{"host", frame.name}].Add(frame.time.length());
    }
  }
  for (const RunNote& note : run.notes) {
    const bool on_stream = selection.stream == kMissing || selection.stream == note.stream;
    if (on_stream && selection.KeepsTime(RequestTimeOf(run, note))) {
      rows[{"device", note.name}].Add(note.time.length());
    }
  }
  Lines lines;
  for (const auto& [key, sums] : rows) {
    lines.insert(Line(key.first, key.second, sums.count, sums.total, sums.min, sums.max));
  }
  return lines;
}

TEST(AnnotationsTwinTest, EveryAnnotationAndTheWorkUnderIt) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    const Tables found = Ask("annotations", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "annotations"),
                      {"side", "name", "count", "total_ns", "min_ns", "max_ns"}),
              TwinOfAnnotations(run, selection));
    EXPECT_EQ(LinesOf(TableOf(found, "annotated_kernels"),
                      {"side", "annotation", "name", "count", "total_ns", "min_ns", "max_ns"}),
              TwinOfKernels(run, selection));
  }
}

}  // namespace
}  // namespace borescope::internal
