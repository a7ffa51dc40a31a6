// Loads one file into a finished trace with all indexes and prints what that cost, as one JSON
// line: the program under test of bench/run.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"

namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

long PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

uint64_t CountEvents(const borescope::internal::Trace& trace) {
  uint64_t events = 0;
  for (const borescope::internal::EventCount& count : trace.event_counts()) {
    events += count.count;
  }
  return events;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: borescope-load-bench FILE THREADS\n");
    return 2;
  }
  borescope::internal::LoadOptions options;
  options.threads = std::max(1, std::atoi(argv[2]));
  const double wall = WallSeconds();
  auto trace = borescope::internal::LoadFile(argv[1], options);
  if (!trace.ok()) {
    std::fprintf(stderr, "borescope-load-bench: %s\n", trace.error().Sentence().c_str());
    return 2;
  }
  const double load_cpu = CpuSeconds();
  const borescope::internal::TraceIndex index =
      borescope::internal::BuildIndex(*trace, options.threads);
  std::printf(
      "{\"events\":%llu,\"text_bytes\":%llu,\"wall_s\":%.3f,\"cpu_s\":%.3f,\"index_cpu_s\":%.3f,"
      "\"peak_kb\":%ld,\"host_events\":%zu,\"device_events\":%zu,\"steps\":%zu}\n",
      static_cast<unsigned long long>(CountEvents(*trace)),
      static_cast<unsigned long long>(trace->meta().text_bytes), WallSeconds() - wall, CpuSeconds(),
      CpuSeconds() - load_cpu, PeakKilobytes(), trace->host().size(), trace->device().size(),
      index.steps.steps.size());
  return 0;
}
