// A stop at any time: what was asked for is answered whole, or the error is kCancelled, soon.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/sanitized_testing.h"
#include "borescope/borescope.h"
#include "borescope/convert.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/verbs/report/report.h"
#include "tests/oracle/random.h"
#include "tests/support/scenario.h"

namespace borescope::internal::testkit {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// 50 ms are promised of an optimised build on an idle machine. Whatever else the machine does, most
// stops take at most twice that.
constexpr double kLongestMs = kSanitized ? 20'000 : 1'000;
constexpr double kUsualMs = kSanitized ? kLongestMs : 100;

std::string MakeTrace() {
  scenario::ScenarioConfig config;
  config.with_shapes = true;
  config.with_stack = true;
  config.with_memory = true;
  config.cuda_graph = true;
  config.size_bytes = kSanitized ? 1'000'000 : 3'000'000;
  std::string text;
  const auto open = [&](const scenario::RankInfo&) {
    return std::make_unique<scenario::StringSink>(&text);
  };
  EXPECT_TRUE(scenario::RunScenario(config, open).is_ok);
  return text;
}

// The result of a question that was stopped after a while.
struct Stopped {
  std::string answer;  // as JSON, or the error in words
  bool is_cancelled = false;
  double latency_ms = 0;  // from the stop to the return; 0 where it had returned before
};

class StopThreads : public testing::Test {
 protected:
  using Run = borescope::Run;  // not that of the test

  static void SetUpTestSuite() { text_ = std::make_shared<const std::string>(MakeTrace()); }
  static void TearDownTestSuite() { text_.reset(); }

  static Source Trace() { return Source::Memory("rank-0.json", text_); }

  static borescope::Result<Run> Open(const Source& source, StopToken stop = {}) {
    OpenOptions options;
    options.threads = 2;
    options.stop = std::move(stop);
    return Run::Open({source}, options);
  }

  static std::string Json(const borescope::Result<borescope::Answer>& answer) {
    return answer.ok() ? *answer->Render("json") : answer.error().Sentence();
  }

  // The result of `ask` for a run of `source`, which is stopped `after` that time.
  template <class Ask>
  static Stopped AskAndStop(const Source& source, Clock::duration after, const Ask& ask) {
    std::stop_source stop;
    const borescope::Result<Run> run = Open(source, stop.get_token());
    Clock::time_point requested;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(after);
      requested = Clock::now();
      stop.request_stop();
    });
    const auto answer = ask(*run);
    const Clock::time_point ended = Clock::now();
    stopper.join();
    Stopped result;
    result.is_cancelled = !answer.ok() && answer.error().code == borescope::ErrorCode::kCancelled;
    result.answer = result.is_cancelled ? "" : TextOf(answer);
    result.latency_ms = std::max(0.0, Milliseconds(ended - requested).count());
    return result;
  }

  static std::string TextOf(const borescope::Result<borescope::Answer>& answer) {
    return Json(answer);
  }
  static std::string TextOf(const borescope::Result<Partial>& partial) {
    return partial.ok() ? *partial->Serialize() : partial.error().Sentence();
  }

  // Asks once in full, and `times` times with a stop at a random time.
  template <class Ask>
  static void ExpectAllOrNothing(const Source& source, int times, Random& random, const Ask& ask) {
    const Clock::time_point begin = Clock::now();
    const std::string whole = TextOf(ask(*Open(source)));
    const auto length = static_cast<uint64_t>((Clock::now() - begin).count());
    for (int i = 0; i < times; ++i) {
      const Clock::duration after(static_cast<int64_t>(random.Below(length + 1)));
      const Stopped stopped = AskAndStop(source, after, ask);
      EXPECT_TRUE(stopped.is_cancelled || stopped.answer == whole);
      EXPECT_LT(stopped.latency_ms, kLongestMs);
    }
  }

  static std::shared_ptr<const std::string> text_;
};
std::shared_ptr<const std::string> StopThreads::text_;

TEST_F(StopThreads, EveryVerbAnswersAllOrNothing) {
  Random random(1);
  for (const VerbInfo& verb : Describe().verbs) {
    if (!verb.takes_two) {
      SCOPED_TRACE(verb.name);
      ExpectAllOrNothing(Trace(), 3, random, [&](const Run& run) { return run.Ask(verb.name); });
    }
  }
}

TEST_F(StopThreads, SeveralVerbsQueriesAndPartialsToo) {
  Random random(2);
  ExpectAllOrNothing(Trace(), 10, random, [](const Run& run) {
    return run.Ask(borescope::Question::Of({"summary", "critical-path"}));
  });
  ExpectAllOrNothing(Trace(), 10, random, [](const Run& run) {
    return run.Map(borescope::Question::Of({"kernels", "stacks"}));
  });
  ExpectAllOrNothing(Trace(), 10, random, [](const Run& run) {
    return run.Query("SELECT name, count(*) AS n FROM kernels GROUP BY name ORDER BY n, name");
  });
}

TEST_F(StopThreads, DatabasesToo) {
  Result<TemporaryFolder> folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder.ok());
  const std::string json = folder->path() + "/rank-0.json";
  ASSERT_TRUE(static_cast<bool>(std::ofstream(json, std::ios::binary) << *text_));
  ConvertOptions convert;
  convert.inputs = {json};
  convert.output = folder->path() + "/rank-0.rpd";
  ASSERT_TRUE(Convert(convert).ok());
  Random random(3);
  ExpectAllOrNothing(Source(convert.output), 20, random,
                     [](const Run& run) { return run.Ask("info"); });
}

TEST_F(StopThreads, AnEndlessStatementEnds) {
  const auto ask = [](const Run& run) {
    return run.Query(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT count(*) FROM n, kernels");
  };
  constexpr size_t kTimes = kSanitized ? 1 : 7;
  std::vector<double> latencies_ms;
  while (latencies_ms.size() < kTimes) {
    const Stopped stopped = AskAndStop(Trace(), std::chrono::milliseconds(300), ask);
    EXPECT_TRUE(stopped.is_cancelled);
    EXPECT_LT(stopped.latency_ms, kLongestMs);
    latencies_ms.push_back(stopped.latency_ms);
  }
  std::sort(latencies_ms.begin(), latencies_ms.end());
  EXPECT_LT(latencies_ms[kTimes / 2], kUsualMs);
}

TEST_F(StopThreads, QuestionsAskedAtOnceAreAnsweredOrCancelled) {
  const std::string whole = Json(Open(Trace())->Ask("summary"));
  Random random(4);
  for (int i = 0; i < 5; ++i) {
    std::stop_source stop;
    const borescope::Result<Run> run = Open(Trace(), stop.get_token());
    const auto ask = [&] {
      const borescope::Result<borescope::Answer> answer = run->Ask("summary");
      EXPECT_TRUE(answer.ok() ? Json(answer) == whole
                              : answer.error().code == borescope::ErrorCode::kCancelled);
    };
    {
      const std::jthread one(ask);
      const std::jthread other(ask);
      std::this_thread::sleep_for(std::chrono::milliseconds(random.Below(200)));
      stop.request_stop();
    }
    EXPECT_EQ(run->Ask("info").error().code, borescope::ErrorCode::kCancelled);
  }
}

// A reader that yields nothing until it is let go.
class Gate {
 public:
  Source Make(std::string name, std::shared_ptr<const std::string> text) {
    return Source::Stream(std::move(name), [this, text] {
      return borescope::Result<std::unique_ptr<Reader>>(std::make_unique<Bytes>(*this, text));
    });
  }

  void Open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void AwaitReader() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_read_; });
  }

 private:
  class Bytes : public Reader {
   public:
    Bytes(Gate& gate, std::shared_ptr<const std::string> text)
        : gate_(gate), text_(std::move(text)) {}
    borescope::Result<size_t> Read(char* out, size_t capacity) override {
      gate_.Pass();
      const size_t size = std::min(capacity, text_->size() - at_);
      std::memcpy(out, text_->data() + at_, size);
      at_ += size;
      return size;
    }

   private:
    Gate& gate_;
    std::shared_ptr<const std::string> text_;
    size_t at_ = 0;
  };

  void Pass() {
    std::unique_lock lock(mutex_);
    is_read_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  bool is_read_ = false;
};

TEST_F(StopThreads, WhoWaitsForTheLoadOfAnotherCanStop) {
  Gate gate;
  const borescope::Result<Run> test = Run::Open({gate.Make("test.json", text_)});
  std::stop_source stop;
  const borescope::Result<Run> base = Open(Trace(), stop.get_token());
  std::string other;
  std::jthread asker([&] { other = Json(test->Ask("kernels")); });
  gate.AwaitReader();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop.request_stop();
  });
  EXPECT_EQ(base->Compare(*test, "diff").error().code, borescope::ErrorCode::kCancelled);
  gate.Open();
  asker.join();
  EXPECT_EQ(other, Json(Run::Open({Source::Memory("test.json", text_)})->Ask("kernels")));
}

TEST_F(StopThreads, AComparisonAsksBothRuns) {
  std::stop_source stop;
  stop.request_stop();
  const borescope::Result<Run> free = Open(Trace());
  const borescope::Result<Run> stopped = Open(Trace(), stop.get_token());
  EXPECT_EQ(free->Compare(*stopped, "diff").error().code, borescope::ErrorCode::kCancelled);
  EXPECT_EQ(stopped->Compare(*free, "diff").error().code, borescope::ErrorCode::kCancelled);
  EXPECT_TRUE(free->Ask("info").ok());
}

size_t CountFiles(const std::string& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_F(StopThreads, ConversionsAndReportsLeaveNothing) {
  Result<TemporaryFolder> folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder.ok());
  const std::string json = folder->path() + "/rank-0.json";
  ASSERT_TRUE(static_cast<bool>(std::ofstream(json, std::ios::binary) << *text_));
  const size_t files = CountFiles(folder->path());
  std::stop_source stop;
  ConvertOptions convert;
  convert.inputs = {json};
  convert.output = folder->path() + "/out.rpd";
  convert.stop = stop.get_token();
  convert.progress = [&](const Progress& progress) {
    progress.done_bytes > progress.total_bytes / 2 ? stop.request_stop() : false;
  };
  EXPECT_EQ(Convert(convert).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(CountFiles(folder->path()), files);
  RunOptions report;
  report.files = ExpandInputs(std::vector<std::string>{json}).value();
  report.stop = stop.get_token();
  EXPECT_EQ(RunReport(report).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace borescope::internal::testkit
