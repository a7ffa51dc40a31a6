// Damage in files of many chunks: what is lost depends on the damage, never on where chunks were
// cut or how many threads read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "fuzz/mutators/mutator.h"

namespace borescope::internal {
namespace {

// Events whose args hold objects that look like events to a careless eye.
std::string Event(int number, bool damaged) {
  const std::string name = damaged ? "na\x01me" : "name";
  return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":1,"ts":)" +
         std::to_string(number) +
         R"(,"dur":1,"args":{"kernel_kwargs":[{"name":"BLOCK","v":1},{"name":"WARPS","v":8}],)" +
         R"("External id":)" + std::to_string(number) + "}}";
}

std::string ManyEvents(int count, int damaged_every) {
  std::string text = "{\"traceEvents\":[";
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ",") + Event(i, i % damaged_every == 1);
  }
  return text + "]}";
}

// The events of a small trace, over and over until they fill several chunks. What is no trace stays
// as it is.
std::string Repeated(const std::string& text) {
  constexpr size_t kChunks = 3 << 20;
  constexpr std::string_view kMember = "\"traceEvents\"";
  const size_t member = text.find(kMember);
  const size_t begin = text.find('[', member == std::string::npos ? 0 : member);
  const size_t end = text.rfind(']');
  if (begin == std::string::npos || end == std::string::npos || end < begin + 2) return text;
  const std::string events = text.substr(begin + 1, end - begin - 1);
  std::string repeated = text.substr(0, end);
  repeated.reserve(kChunks + text.size());
  while (repeated.size() < kChunks) repeated.append(",").append(events);
  return repeated.append(text, end);
}

std::vector<std::string> KinetoCorpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(BORESCOPE_FUZZ_CORPUS) + "/kineto")) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

// What a reader gets from a text: its rows and everything it counted. Indexes are built, too, for
// ThreadSanitizer to look at.
std::string Outcome(const std::string& text, int threads) {
  const Result<Trace> trace = LoadBytes(text, "t.json", {.threads = threads, .progress = {}});
  if (!trace.ok()) {
    return trace.error().Sentence();
  }
  BuildIndex(*trace, threads);
  std::string outcome = std::to_string(trace->host().size());
  for (size_t i = 0; i < static_cast<size_t>(Diag::kCount); ++i) {
    const Diagnostics::Entry& entry = trace->diagnostics().Get(static_cast<Diag>(i));
    outcome += " " + std::to_string(entry.count) + "@" + std::to_string(entry.first_byte);
  }
  return outcome;
}

TEST(DamagedChunksTest, OneSlipAChunkLosesNoSoundEvent) {
  const Result<Trace> trace = LoadBytes(ManyEvents(40'000, 3000), "t.json", {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->host().size(), 40'000U);
  EXPECT_EQ(trace->diagnostics().count(Diag::kDroppedText), 0U);
  EXPECT_EQ(trace->diagnostics().count(Diag::kControlCharacter), 14U);
}

TEST(DamagedChunksTest, ThreadsNeverShow) {
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    std::string text = ManyEvents(20'000, 2500);
    for (int i = 0; i < 1 << (round % 6); ++i) {
      constexpr std::string_view kDamage = "\"]}{[,:x\\";
      text[random() % text.size()] = kDamage[random() % kDamage.size()];
    }
    const std::string one = Outcome(text, 1);
    EXPECT_EQ(Outcome(text, 2), one) << "round " << round;
    EXPECT_EQ(Outcome(text, 5), one) << "round " << round;
  }
}

TEST(DamagedChunksTest, ThreadsReadAnEventOfManyChunks) {
  std::string text = ManyEvents(100, 1000);
  text.insert(text.find("\"dur\""), "\"note\":\"" + std::string(5 << 20, 'a') + "\",");
  const std::string one = Outcome(text, 1);
  EXPECT_TRUE(one.starts_with("100 ")) << one;
  EXPECT_EQ(Outcome(text, 4), one);
}

// Changes that know what a trace is made of, at every event and therefore in every chunk.
TEST(DamagedChunksTest, ThreadsReadMutantsAlike) {
  const std::vector<std::string> corpus = KinetoCorpus();
  ASSERT_GE(corpus.size(), 10U);
  int readable = 0;
  for (size_t i = 0; i < corpus.size(); ++i) {
    fuzz::Random random(1000 + static_cast<unsigned>(i));
    const std::string text = Repeated(fuzz::MutateJson(corpus[i], random));
    const std::string one = Outcome(text, 1);
    readable += one.front() >= '0' && one.front() <= '9' ? 1 : 0;
    EXPECT_EQ(Outcome(text, 4), one) << "text " << i;
  }
  EXPECT_GE(readable, 10);
}

}  // namespace
}  // namespace borescope::internal
