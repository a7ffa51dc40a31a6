#include "borescope/recorder/sampling/sampling.h"

#include <atomic>
#include <bit>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "borescope/recorder/process_facts.h"
#include "borescope/recorder/run_log.h"
#include "borescope/recorder/sampling/gpu_samplers.h"
#include "borescope/recorder/sampling/process_sampler.h"
#include "borescope/recorder/signals.h"

namespace borescope::internal {

// What the threads share with whoever ends them. It lives as long as the last of them.
struct SamplingState {
  std::string folder;
  std::chrono::nanoseconds interval{};
  std::atomic<uint32_t> next_series = 1;  // numbers are of the log, which both threads add to
  std::mutex mutex;
  std::condition_variable changed;
  bool is_ending = false;
  int running = 0;
  std::optional<Error> failure;  // the first one: samples of a thread end with it
};

namespace {

using recording::RecordType;
using Samplers = std::vector<std::unique_ptr<Sampler>>;

// Adds samples to the log, which is made with the first.
class SampleWriter {
 public:
  explicit SampleWriter(SamplingState& state) : state_(state) {}

  Result<void> Write(uint64_t now, const std::vector<Sample>& samples) {
    if (samples.empty()) return {};
    if (!log_.has_value()) {
      BS_ASSIGN(RunLog log, RunLog::Open(state_.folder, OwnLogName()));
      log_.emplace(std::move(log));
    }
    LogWords words;
    for (const Sample& sample : samples) {
      const uint32_t series = SeriesOf(sample.series, words);
      words.Add(RecordType::kSample, series, {now, std::bit_cast<uint64_t>(sample.value)});
    }
    return log_->Append(words.words());
  }

 private:
  // The number of a series, whose name comes before its first sample.
  uint32_t SeriesOf(const std::string& name, LogWords& words) {
    const auto [known, is_new] = series_.try_emplace(name, 0);
    if (is_new) {
      known->second = state_.next_series.fetch_add(1);
      words.Add(RecordType::kString, known->second, {}, name);
    }
    return known->second;
  }

  SamplingState& state_;
  std::optional<RunLog> log_;
  std::map<std::string, uint32_t> series_;
};

void NoteFailure(SamplingState& state, Error error) {
  const std::scoped_lock lock(state.mutex);
  if (!state.failure.has_value()) state.failure = std::move(error);
}

// False if it is to end.
bool WaitForTurn(SamplingState& state, std::chrono::steady_clock::time_point turn) {
  std::unique_lock lock(state.mutex);
  state.changed.wait_until(lock, turn, [&] { return state.is_ending; });
  return !state.is_ending;
}

void SampleInTurns(SamplingState& state, const Samplers& samplers) {
  SampleWriter writer(state);
  std::vector<Sample> samples;
  auto turn = std::chrono::steady_clock::now() + state.interval;
  while (WaitForTurn(state, turn)) {
    samples.clear();
    const uint64_t now = MonotonicNow();
    for (const auto& sampler : samplers) sampler->Read(samples);
    if (const Result<void> written = writer.Write(now, samples); !written.ok()) {
      return NoteFailure(state, written.error());
    }
    // Turns that were missed are left out.
    const auto done = std::chrono::steady_clock::now();
    do {
      turn += state.interval;
    } while (turn <= done);
  }
}

// A thread that has begun, until it ends.
struct RunningThread {
  ~RunningThread() {
    const std::scoped_lock lock(state.mutex);
    state.running -= 1;
    state.changed.notify_all();
  }

  SamplingState& state;
};

// Runs `make` and samples what it made, on a thread that nobody joins: it may hang. REQUIRES: the
// state is locked.
template <class Make>
void StartThread(const std::shared_ptr<SamplingState>& state, Make make) {
  state->running += 1;
  const auto run = [state, make] {
    const RunningThread running{*state};
    BlockAllSignals();
    try {
      const Samplers samplers = make();
      if (!samplers.empty()) SampleInTurns(*state, samplers);
    } catch (const std::bad_alloc&) {
      // Samples end here; the program and its recording go on. So short a text takes no memory.
      NoteFailure(*state, {ErrorCode::kIo, "out of memory"});
    }
  };
  try {
    std::thread(run).detach();
  } catch (const std::system_error&) {
    state->running -= 1;  // a recording without samples is better than none
    state->failure = Error{ErrorCode::kIo, "no more threads"};
  }
}

}  // namespace

Sampling::Sampling(const std::string& folder, pid_t root, std::chrono::nanoseconds interval)
    : state_(std::make_shared<SamplingState>()) {
  state_->folder = folder;
  state_->interval = interval;
  const std::scoped_lock lock(state_->mutex);
  StartThread(state_, [root] {
    Samplers samplers;
    samplers.push_back(std::make_unique<ProcessSampler>(root));
    std::vector<Sample> first;
    samplers.front()->Read(first);  // what shares of time are measured from
    return samplers;
  });
  StartThread(state_, MakeGpuSamplers);
}

void Sampling::End() {
  constexpr auto kPatience = std::chrono::seconds(2);
  std::unique_lock lock(state_->mutex);
  if (state_->is_ending) return;
  state_->is_ending = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatience, [&] { return state_->running == 0; });
}

std::string Sampling::WhyEndedEarly() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->failure.has_value() ? state_->failure->Sentence() : std::string();
}

}  // namespace borescope::internal
