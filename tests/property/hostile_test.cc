// Text made to be expensive: it ends within seconds per megabyte, and memory stays bounded.

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>

#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "tests/property/invariants.h"
#include "tests/property/synthetic.h"

namespace borescope {
namespace {

using testkit::Gzip;
using testkit::WhatIsWrongWith;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// Of processor time, which other programs on the machine do not add to. In a debug build; a release
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

void ExpectSoon(const std::string& bytes, double limit_seconds = 2 * kSecondsPerMegabyte) {
  const double begin = CpuSeconds();
  const Result<Trace> trace = LoadBytes(bytes, "a.json", {});
  if (trace.ok()) {
    EXPECT_EQ(WhatIsWrongWith(*trace), "");
    BuildIndex(*trace, 1);
  }
  EXPECT_LT(CpuSeconds() - begin, limit_seconds);
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
  ExpectSoon("{\"traceEvents\":[" + Repeat(GetParam(), kLong), kSecondsPerMegabyte);
}

TEST_P(HostileTest, EndsSoonAnywhere) {
  const std::string text = Repeat(GetParam(), kShort);
  for (const std::string& bytes :
       {"{" + text, "{\"a\":" + text + "\"traceEvents\":[]}", "[" + text + "\"}]",
        R"([{"ph":"X","cat":"kernel","name":")" + text, R"([{"ph":"X","args":{"a":)" + text}) {
    ExpectSoon(bytes, kSecondsPerMegabyte / 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Pieces, HostileTest, testing::ValuesIn(kPieces),
                         [](const auto& test) { return std::to_string(test.index); });

// Numbers that are different each time.
TEST(HostileNamesTest, ManyCategoriesNamesThreadsAndIds) {
  std::string text = "[";
  for (int i = 0; i < 12'000; ++i) {
    const std::string n = std::to_string(i * 7919);
    text += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"c)" + n + R"(","name":"n)" + n +
            R"(","pid":)" + n + R"(,"tid":)" + n + R"(,"ts":)" + n + R"(,"dur":1})";
  }
  ExpectSoon(text + "]");
}

TEST(HostileNamesTest, OneCorrelationForAll) {
  std::string text = "[";
  for (int i = 0; i < 10'000; ++i) {
    const char* kind = i % 2 == 0 ? "kernel" : "cuda_runtime";
    text += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":")" + kind +
            R"(","name":"cudaLaunchKernel","pid":0,"tid":7,"ts":)" + std::to_string(i) +
            R"(,"dur":9999,"args":{"correlation":5}})";
  }
  ExpectSoon(text + "]");
}

// Frames that are all open at once: a stack as deep as the trace is long.
TEST(HostileNamesTest, ADeepStack) {
  std::string text = "[";
  for (int i = 0; i < 10'000; ++i) {
    text += std::string(i == 0 ? "" : ",") +
            R"({"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":)" +
            std::to_string(i) + R"(,"dur":)" + std::to_string(40'000 - 2 * i) + "}";
  }
  ExpectSoon(text + "]");
}

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
    ExpectSoon(bytes);
    if (!kSanitized) {
      EXPECT_LT(PeakMebibytes(), before + 1000);
    }
  }
}

TEST(BombTest, LongStringsEndInAnError) {
  const std::string letters = GzipMany(std::string(1 << 20, 'a'), 400);
  const Result<Trace> trace = LoadBytes(Gzip("{\"") + letters, "a.json", {});
  ASSERT_FALSE(trace.ok());
  EXPECT_TRUE(trace.error().message.starts_with("a.json: ")) << trace.error().message;
  if (!kSanitized) {
    EXPECT_LT(PeakMebibytes(), 1000);
  }
}

}  // namespace
}  // namespace borescope
