// Levels of detail against a slow twin, which merges neighbours pair by pair until none is left to
// be merged; and against what was planted.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RunWork;
using testkit::TableOf;

struct TwinBox {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count = 0;
  int64_t busy = 0;
  std::string name;
  std::string tone;
  // Per name: its time, when it came first, and its tone.
  std::vector<std::tuple<std::string, int64_t, std::string>> parts;

  friend bool operator==(const TwinBox& a, const TwinBox& b) {
    return std::tie(a.begin, a.end, a.count, a.busy, a.name, a.tone) ==
           std::tie(b.begin, b.end, b.count, b.busy, b.name, b.tone);
  }
  friend std::ostream& operator<<(std::ostream& out, const TwinBox& box) {
    return out << '[' << box.begin << ' ' << box.end << ' ' << box.count << ' ' << box.busy << ' '
               << box.name << ' ' << box.tone << ']';
  }
};

// By track, level and depth.
using Rows = std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<TwinBox>>;

Rows RowsOf(const Table& boxes) {
  Rows rows;
  for (size_t row = 0; row < boxes.rows(); ++row) {
    TwinBox box;
    box.begin = Ints(boxes, "begin_offset_ns")[row];
    box.end = box.begin + Ints(boxes, "duration_ns")[row];
    box.count = Ints(boxes, "count")[row];
    box.busy = Ints(boxes, "busy_ns")[row];
    box.name = Texts(boxes, "name")[row];
    box.tone = Texts(boxes, "tone")[row];
    box.parts = {{box.name, box.busy, box.tone}};
    rows[{Ints(boxes, "track")[row], Ints(boxes, "level")[row], Ints(boxes, "depth")[row]}]
        .push_back(box);
  }
  return rows;
}

void Join(TwinBox& box, const TwinBox& next) {
  box.end = std::max(box.end, next.end);
  box.count += next.count;
  box.busy += next.busy;
  for (const auto& part : next.parts) {
    const auto same = std::find_if(box.parts.begin(), box.parts.end(), [&](const auto& mine) {
      return std::get<0>(mine) == std::get<0>(part);
    });
    if (same == box.parts.end()) {
      box.parts.push_back(part);
    } else {
      std::get<1>(*same) += std::get<1>(part);
    }
  }
  const auto largest = std::max_element(
      box.parts.begin(), box.parts.end(),
      [](const auto& a, const auto& b) { return std::get<1>(a) < std::get<1>(b); });
  box.name = std::get<0>(*largest);
  box.tone = std::get<2>(*largest);
}

// Whether the rule joins them: both short, and the second, a single event, soon after the first.
bool AreJoined(const TwinBox& box, const TwinBox& next, int64_t grain) {
  return box.end - box.begin < grain && next.end - next.begin < grain && next.count == 1 &&
         next.begin - box.end < grain;
}

std::vector<TwinBox> Merge(std::vector<TwinBox> boxes, int64_t grain) {
  for (size_t i = 0; i + 1 < boxes.size();) {
    if (AreJoined(boxes[i], boxes[i + 1], grain)) {
      Join(boxes[i], boxes[i + 1]);
      boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      i = 0;  // from the start, as if nothing were known
    } else {
      ++i;
    }
  }
  return boxes;
}

// Random runs are 80 ns long, shorter than every grain: the same with longer times.
RandomRun Stretched(RandomRun run, int64_t factor) {
  const auto stretch = [factor](testkit::Time& time) {
    time.begin *= factor;
    time.end *= factor;
  };
  for (testkit::RunFrame& frame : run.frames) {
    stretch(frame.time);
  }
  for (testkit::RunCall& call : run.calls) {
    stretch(call.time);
  }
  for (testkit::RunWork& work : run.work) {
    stretch(work.time);
  }
  for (testkit::RunNote& note : run.notes) {
    stretch(note.time);
  }
  return run;
}

Params Full() {
  Params params;
  params.values.push_back({kTimelineDetailParam.name, 0, "full"});
  return params;
}

int64_t GrainIn(const Tables& tables, int64_t level) {
  const Table& levels = TableOf(tables, "levels");
  for (size_t row = 0; row < levels.rows(); ++row) {
    if (Ints(levels, "level")[row] == level) {
      return Ints(levels, "grain_ns")[row];
    }
  }
  return -1;
}

void ExpectTwins(const Tables& tables) {
  const Rows rows = RowsOf(TableOf(tables, "boxes"));
  for (const auto& [key, boxes] : rows) {
    const auto& [track, level, depth] = key;
    if (level == 0) {
      continue;
    }
    const auto exact = rows.find({track, 0, depth});
    ASSERT_NE(exact, rows.end());
    EXPECT_EQ(boxes, Merge(exact->second, GrainIn(tables, level)))
        << "track " << track << " level " << level << " depth " << depth;
  }
}

// No two boxes of a depth overlap, and each level has all events and all of their time.
void ExpectSums(const Tables& tables) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::pair<int64_t, int64_t>> sums;
  for (const auto& [key, boxes] : RowsOf(TableOf(tables, "boxes"))) {
    int64_t last = INT64_MIN;
    for (const TwinBox& box : boxes) {
      EXPECT_LE(last, box.begin);
      last = box.end;
      sums[key].first += box.count;
      sums[key].second += box.busy;
    }
  }
  const Table& levels = TableOf(tables, "levels");
  for (const auto& [key, sum] : sums) {
    const auto& [track, level, depth] = key;
    for (size_t row = 0; row < levels.rows(); ++row) {
      EXPECT_EQ((sums[{track, Ints(levels, "level")[row], depth}]), sum);
    }
  }
}

// What was planted on each stream is what its track says.
void ExpectStreams(const RandomRun& run, const testkit::RunSelection& selection,
                   const Tables& tables) {
  std::map<std::string, int64_t> want;
  for (const RunWork& work : run.work) {
    if (selection.Keeps(work) && selection.KeepsTime(RequestTime(run, work))) {
      ++want["GPU " + std::to_string(work.gpu) + " stream " + std::to_string(work.stream)];
    }
  }
  std::map<std::string, int64_t> found;
  const Table& tracks = TableOf(tables, "tracks");
  for (size_t row = 0; row < tracks.rows(); ++row) {
    if (Texts(tracks, "kind")[row] == "stream") {
      found[Texts(tracks, "parent")[row] + " " + Texts(tracks, "name")[row]] =
          Ints(tracks, "events")[row];
    }
  }
  EXPECT_EQ(found, want);
}

TEST(TimelineTwinTest, LevelsAreThoseOfTheTwin) {
  for (uint64_t seed = 0; seed < 600 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = Stretched(MakeRandomRun(random), random.Between(100, 3000));
    const Trace trace = TraceOf(run);
    if (trace.host().size() + trace.device().size() == 0) {
      continue;
    }
    const Tables tables = Ask("timeline", trace, Full());
    ExpectTwins(tables);
    ExpectSums(tables);
  }
}

TEST(TimelineTwinTest, TracksHaveWhatIsSelected) {
  for (uint64_t seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params = Full();
    const testkit::RunSelection selection = RandomSelection(random, run, params);
    const Result<Tables> tables = testkit::TryAsk("timeline", TraceOf(run), params);
    if (!tables.ok()) {
      continue;  // nothing to ask about
    }
    ExpectStreams(run, selection, *tables);
    ExpectSums(*tables);
  }
}

}  // namespace
}  // namespace borescope::internal
