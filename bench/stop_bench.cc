// How long work goes on after a stop is requested: asks each verb of one file again and again, with
// a stop at times spread over the time that it takes, and prints the worst as one JSON line a
// verb. "load" is a question whose file is loaded first; all others find it loaded.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/loading/loaded_trace.h"
#include "borescope/engine/run_analyses.h"

namespace {

using namespace borescope::internal;  // NOLINT(google-build-using-namespace): a program of ours
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

struct Question {
  std::string name;
  const AnalysisSpec* spec;
  RunOptions options;
};

double MillisecondsOf(const Question& question) {
  const Clock::time_point begin = Clock::now();
  static_cast<void>(RunAnalysis(*question.spec, question.options));
  return Milliseconds(Clock::now() - begin).count();
}

// From a stop `after_ms` to the return; negative where the answer came first.
double Latency(Question question, double after_ms) {
  std::stop_source stop;
  question.options.stop = stop.get_token();
  Clock::time_point requested;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(Milliseconds(after_ms));
    requested = Clock::now();
    stop.request_stop();
  });
  const bool is_answered = RunAnalysis(*question.spec, question.options).ok();
  const Clock::time_point ended = Clock::now();
  stopper.join();
  return is_answered ? -1 : Milliseconds(ended - requested).count();
}

void Measure(const Question& question, int stops) {
  const double whole_ms = MillisecondsOf(question);
  std::vector<double> latencies;
  for (int i = 0; i < stops; ++i) {
    const double latency = Latency(question, whole_ms * i / stops);
    if (latency >= 0) {
      latencies.push_back(latency);
    }
  }
  std::sort(latencies.begin(), latencies.end());
  const double worst = latencies.empty() ? 0 : latencies.back();
  const double median = latencies.empty() ? 0 : latencies[latencies.size() / 2];
  std::printf(
      "{\"verb\":\"%s\",\"whole_ms\":%.1f,\"stopped\":%zu,\"median_ms\":%.1f,\"worst_ms\":%.1f}\n",
      question.name.c_str(), whole_ms, latencies.size(), median, worst);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: borescope-stop-bench FILE STOPS [VERB...]\n");
    return 2;
  }
  const int stops = std::max(1, std::atoi(argv[2]));
  const std::vector<std::string> verbs(argv + 3, argv + argc);
  const auto is_asked = [&](std::string_view name) {
    return verbs.empty() || std::find(verbs.begin(), verbs.end(), name) != verbs.end();
  };
  RunOptions options;
  const std::string path = argv[1];
  auto files = ExpandInputs({&path, 1});
  if (!files.ok()) {
    std::fprintf(stderr, "borescope-stop-bench: %s\n", files.error().Sentence().c_str());
    return 2;
  }
  options.files = std::move(*files);
  if (is_asked("load")) {
    Measure({"load", FindAnalysis("info"), options}, stops);
  }
  TraceCache cache(uint64_t{1} << 40);
  options.cache = &cache;
  static_cast<void>(RunAnalysis(*FindAnalysis("info"), options));
  for (const AnalysisSpec* spec : Analyses()) {
    if (is_asked(spec->name) && !spec->takes_two()) {
      Measure({std::string(spec->name), spec, options}, stops);
    }
  }
  return 0;
}
