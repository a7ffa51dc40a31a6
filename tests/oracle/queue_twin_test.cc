// Lengths of queues against a slow twin: the length after each change is counted again, from all
// launches there are.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "borescope/analysis/core/param_specs.h"
#include "tests/oracle/verb_answers.h"

namespace borescope::internal {
namespace {

using testkit::Ask;
using testkit::kNoCall;
using testkit::Line;
using testkit::Lines;
using testkit::LinesOf;
using testkit::MakeRandomRun;
using testkit::Random;
using testkit::RandomRun;
using testkit::RandomSelection;
using testkit::RunSelection;
using testkit::RunWork;
using testkit::TableOf;
using testkit::TraceOf;

// A launch waits from its begin to that of its first work on the stream; one that comes after its
// own work only passes through.
struct Wait {
  int64_t enter;
  int64_t leave;
};

struct Stream {
  std::map<int, Wait> waits;  // by call
  int64_t unlinked = 0;
};

using Streams = std::map<std::pair<int64_t, int64_t>, Stream>;

Streams StreamsOf(const RandomRun& run, const RunSelection& selection) {
  Streams streams;
  for (const RunWork& work : run.work) {
    if (!selection.Keeps(work)) {
      continue;
    }
    Stream& stream = streams[{work.gpu, work.stream}];
    if (work.call == kNoCall) {
      stream.unlinked += selection.KeepsTime(work.time.begin) ? 1 : 0;
      continue;
    }
    const auto known = stream.waits.find(work.call);
    const int64_t leave = known == stream.waits.end()
                              ? work.time.begin
                              : std::min(known->second.leave, work.time.begin);
    stream.waits[work.call] = {std::min(leave, RequestTime(run, work)), leave};
  }
  return streams;
}

struct Sample {
  int64_t ts;
  int64_t length;
};

// Launches at one instant enter one by one, then works begin one by one.
std::vector<Sample> SamplesOf(const Stream& stream) {
  std::vector<Sample> samples;
  for (int64_t ns = 0; ns <= testkit::kRunEnd; ++ns) {
    int64_t length = 0;
    int64_t enter = 0;
    int64_t leave = 0;
    for (const auto& [call, wait] : stream.waits) {
      length += wait.enter < ns && wait.leave >= ns ? 1 : 0;
      enter += wait.enter == ns ? 1 : 0;
      leave += wait.leave == ns ? 1 : 0;
    }
    for (; enter > 0; --enter) {
      samples.push_back({ns, ++length});
    }
    for (; leave > 0; --leave) {
      samples.push_back({ns, --length});
    }
  }
  return samples;
}

// The value at a place between two of the sorted ones.
double Quantile(std::vector<int64_t> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, values.size() - 1);
  const double share = place - static_cast<double>(below);
  return static_cast<double>(values[below]) * (1 - share) +
         static_cast<double>(values[above]) * share;
}

struct Lasting {
  double weighted = 0;
  int64_t total = 0;
  int64_t blocked = 0;
};

// Nanosecond by nanosecond, from the first change to the last.
Lasting LastingOf(const std::vector<Sample>& samples, const RunSelection& selection,
                  int64_t limit) {
  Lasting result;
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    for (int64_t ns = samples[i].ts; ns < samples[i + 1].ts; ++ns) {
      if (selection.inside[static_cast<size_t>(ns)] != 0) {
        result.weighted += static_cast<double>(samples[i].length);
        ++result.total;
        result.blocked += samples[i].length >= limit ? 1 : 0;
      }
    }
  }
  return result;
}

std::string RowOf(const std::pair<int64_t, int64_t>& key, const Stream& stream,
                  const RunSelection& selection, int64_t limit) {
  const std::vector<Sample> samples = SamplesOf(stream);
  const Lasting lasting = LastingOf(samples, selection, limit);
  std::vector<int64_t> lengths;
  for (const Sample& sample : samples) {
    if (selection.KeepsTime(sample.ts)) {
      lengths.push_back(sample.length);
    }
  }
  const std::string time_mean =
      lasting.total == 0 ? "-"
                         : testkit::Cell(lasting.weighted / static_cast<double>(lasting.total));
  const std::string first = Line(key.first, key.second, static_cast<int64_t>(lengths.size()));
  const std::string last = Line(time_mean, lasting.blocked, stream.unlinked);
  if (lengths.empty()) {
    return first + " - - - - - - - " + last;
  }
  double mean = 0;
  for (const int64_t length : lengths) {
    mean += static_cast<double>(length) / static_cast<double>(lengths.size());
  }
  double squares = 0;
  for (const int64_t length : lengths) {
    squares += (static_cast<double>(length) - mean) * (static_cast<double>(length) - mean);
  }
  const double stddev =
      lengths.size() == 1 ? 0 : std::sqrt(squares / static_cast<double>(lengths.size() - 1));
  const auto [min, max] = std::minmax_element(lengths.begin(), lengths.end());
  return Line(std::string(first), mean, stddev, *min, Quantile(lengths, 0.25),
              Quantile(lengths, 0.5), Quantile(lengths, 0.75), *max, last);
}

void ExpectSeries(const Streams& streams, const RunSelection& selection, const Tables& found) {
  Lines want;
  for (const auto& [key, stream] : streams) {
    for (const Sample& sample : SamplesOf(stream)) {
      if (selection.KeepsTime(sample.ts)) {
        want.insert(Line(key.first, key.second, sample.ts, sample.length));
      }
    }
  }
  EXPECT_EQ(LinesOf(TableOf(found, "queue_length"), {"gpu", "stream", "ts_ns", "length"}), want);
}

TEST(QueueTwinTest, EveryChangeAndEveryNanosecond) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const RandomRun run = MakeRandomRun(random);
    Params params;
    const RunSelection selection = RandomSelection(random, run, params);
    const int64_t limit = random.Between(1, 4);
    params.values.push_back({kQueueLimitParam.name, limit, ""});
    params.values.push_back({kSeriesParam.name, 1, ""});
    const Streams streams = StreamsOf(run, selection);
    if (streams.empty()) {
      continue;  // nothing to ask about
    }
    Lines want;
    for (const auto& [key, stream] : streams) {
      want.insert(RowOf(key, stream, selection, limit));
    }
    const Tables found = Ask("queue", TraceOf(run), params);
    EXPECT_EQ(LinesOf(TableOf(found, "queue"),
                      {"gpu", "stream", "samples", "mean", "stddev", "min", "p25", "p50", "p75",
                       "max", "time_mean", "blocked_ns", "unlinked"}),
              want);
    ExpectSeries(streams, selection, found);
  }
}

}  // namespace
}  // namespace borescope::internal
