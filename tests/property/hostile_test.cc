// Text made to be expensive: it ends within seconds per megabyte, and memory stays bounded.

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>

#include "borescope/base/sanitized_testing.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "tests/property/invariants.h"
#include "tests/property/synthetic.h"

namespace borescope::internal {
namespace {

using testkit::Gzip;
using testkit::kSanitized;
using testkit::WhatIsWrongWith;

// Of processor time, which other programs on the machine add least to. In a debug build; a release
// build needs a fraction of it.
constexpr double kSecondsPerMegabyte = kSanitized ? 20 : 2;

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string Repeat(std::string_view piece, size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    text += piece;
  }
  return text;
}

double SecondsToLoad(const std::string& bytes) {
  const double begin = CpuSeconds();
  const Result<Trace> trace = LoadBytes(bytes, "a.json", {});
  if (trace.ok()) {
    EXPECT_EQ(WhatIsWrongWith(*trace), "");
    BuildIndex(*trace, 1);
  }
  return CpuSeconds() - begin;
}

// No load of this file takes longer, however slow the machine.
constexpr double kEndlessSeconds = 20 * kSecondsPerMegabyte;

// That `text_of(size)` takes at most the limit. A machine that others keep busy takes several times
// as long for everything: there, four times the size may not take more than eight times as long (a
// square takes sixteen).
template <typename TextOf>
void ExpectSoon(const TextOf& text_of, size_t size,
                double limit_seconds = 2 * kSecondsPerMegabyte) {
  const double seconds = SecondsToLoad(text_of(size));
  if (seconds >= limit_seconds) {
    EXPECT_LT(seconds, 8 * SecondsToLoad(text_of(size / 4)));
    EXPECT_LT(seconds, kEndlessSeconds);
  }
}

constexpr std::string_view kPieces[] = {R"({"ph":[)",  // each opens the next
                                        R"({"ph":{)",
                                        R"({"ph":{"ph":)",
                                        R"({"args":{)",
                                        R"({"args":{"a":[)",
                                        R"({"ph")",
                                        R"({"a{)",
                                        R"({"a")",
                                        R"({"ph":"{"ph":")",
                                        R"({"ph":")",
                                        R"("{"ph":[]",)",
                                        R"("{"ph":",)",
                                        R"("{"ph":[",)",
                                        R"({"ph":"\")",
                                        R"("\")",
                                        "\"",
                                        "\"\"",
                                        "\"\"\"",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "{}",
                                        "{},",
                                        "[]",
                                        "},{",
                                        "}]",
                                        "],",
                                        R"({"ph":1}],)",
                                        R"({"ph":1},],)",
                                        ",",
                                        ", ",
                                        ":",
                                        "\\",
                                        "\\\\",
                                        "\"\\",
                                        " ",
                                        "\n",
                                        "\t\n ",
                                        "0",
                                        "1 ",
                                        "null",
                                        "a",
                                        R"({"ph":1,)",
                                        R"({"ph":1 )",
                                        R"({"ph":1 "ph":1 )",
                                        R"({"ph":"X","ts":0e999999},)",
                                        R"({"ph":"X","name":"a"b"c"},)",
                                        R"({"name":"x","args":{"l":[{"name":1},)",
                                        R"("traceEvents":)",
                                        R"("traceEvents":[)",
                                        R"("traceEvents":{)",
                                        R"({"traceEvents")",
                                        R"("traceEvents" : )",
                                        "\xff",
                                        "\xef\xbb\xbf",
                                        "\x1f\x8b",
                                        "NaN,",
                                        "-",
                                        "/* */",
                                        "#",
                                        "'",
                                        R"({"ph":"X","cat":")"};

class HostileTest : public testing::TestWithParam<std::string_view> {};

// Enough to tell squares from lines.
constexpr size_t kLong = 500'000;
constexpr size_t kShort = 100'000;

TEST_P(HostileTest, EndsSoonAsEvents) {
  ExpectSoon([](size_t size) { return "{\"traceEvents\":[" + Repeat(GetParam(), size); }, kLong,
             kSecondsPerMegabyte);
}

TEST_P(HostileTest, EndsSoonAnywhere) {
  constexpr std::pair<std::string_view, std::string_view> kAround[] = {
      {"{", ""},
      {R"({"a":)", R"("traceEvents":[]})"},
      {"[", R"("}])"},
      {R"([{"ph":"X","cat":"kernel","name":")", ""},
      {R"([{"ph":"X","args":{"a":)", ""}};
  for (const auto& [before, after] : kAround) {
    const auto text_of = [&](size_t size) {
      return std::string(before) + Repeat(GetParam(), size) + std::string(after);
    };
    ExpectSoon(text_of, kShort, kSecondsPerMegabyte / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Pieces, HostileTest, testing::ValuesIn(kPieces),
                         [](const auto& test) { return std::to_string(test.index); });

// Numbers that are different each time.
std::string EventsOfManyNames(size_t events) {
  std::string text = "[";
  for (size_t i = 0; i < events; ++i) {
    const std::string n = std::to_string(i * 7919);
    text += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"c)" + n + R"(","name":"n)" + n +
            R"(","pid":)" + n + R"(,"tid":)" + n + R"(,"ts":)" + n + R"(,"dur":1})";
  }
  return text + "]";
}

TEST(HostileNamesTest, ManyCategoriesNamesThreadsAndIds) { ExpectSoon(EventsOfManyNames, 12'000); }

std::string EventsOfOneCorrelation(size_t events) {
  std::string text = "[";
  for (size_t i = 0; i < events; ++i) {
    const char* kind = i % 2 == 0 ? "kernel" : "cuda_runtime";
    text += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":")" + kind +
            R"(","name":"cudaLaunchKernel","pid":0,"tid":7,"ts":)" + std::to_string(i) +
            R"(,"dur":9999,"args":{"correlation":5}})";
  }
  return text + "]";
}

TEST(HostileNamesTest, OneCorrelationForAll) { ExpectSoon(EventsOfOneCorrelation, 10'000); }

// Frames that are all open at once: a stack as deep as the trace is long.
std::string DeepStack(size_t frames) {
  std::string text = "[";
  for (size_t i = 0; i < frames; ++i) {
    text += std::string(i == 0 ? "" : ",") +
            R"({"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":)" +
            std::to_string(i) + R"(,"dur":)" + std::to_string(4 * frames - 2 * i) + "}";
  }
  return text + "]";
}

TEST(HostileNamesTest, ADeepStack) { ExpectSoon(DeepStack, 10'000); }

// --- memory ---

// The largest resident size since the last call, in MiB; 0 where the system does not tell.
int64_t PeakMebibytes() {
  std::ifstream status("/proc/self/status");
  int64_t peak_kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      peak_kib = std::stoll(line.substr(6));
    }
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  return peak_kib / 1024;
}

// `times` gzip members, each inflating to `text`.
std::string GzipMany(const std::string& text, int times) {
  const std::string member = Gzip(text);
  std::string bytes;
  for (int i = 0; i < times; ++i) {
    bytes += member;
  }
  return bytes;
}

// 200 MB of blanks in a fifth of a megabyte; and more than the longest event (64 MiB) of them at
// every place of a document.
TEST(BombTest, BlanksAreReadInBoundedMemory) {
  const std::string blanks = GzipMany(std::string(1 << 20, ' '), 70);
  const std::string many = GzipMany(std::string(1 << 20, ' '), 200);
  for (const std::string& bytes :
       {many, Gzip("{") + many, Gzip("{\"a\":1") + blanks + Gzip(",\"traceEvents\":[]}"),
        Gzip("{\"traceEvents\":[") + blanks + Gzip("]}"), Gzip("[{\"ph\":\"X\"},") + blanks,
        Gzip("[{\"ph\":\"X\",\"name\":") + blanks}) {
    const int64_t before = PeakMebibytes();
    EXPECT_LT(SecondsToLoad(bytes), kEndlessSeconds);
    if (!kSanitized) {
      EXPECT_LT(PeakMebibytes(), before + 1000);
    }
  }
}

TEST(BombTest, LongStringsEndInAnError) {
  const std::string letters = GzipMany(std::string(1 << 20, 'a'), 400);
  const Result<Trace> trace = LoadBytes(Gzip("{\"") + letters, "a.json", {});
  ASSERT_FALSE(trace.ok());
  EXPECT_TRUE(trace.error().Sentence().starts_with("a.json: ")) << trace.error().Sentence();
  if (!kSanitized) {
    EXPECT_LT(PeakMebibytes(), 1000);
  }
}

}  // namespace
}  // namespace borescope::internal
