#include "borescope/postmortem/logs/log_envelopes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/postmortem/logs/log_lines.h"

namespace borescope::internal {
namespace {

using NumberedLines = std::vector<std::pair<std::string, int64_t>>;

NumberedLines LinesOf(std::string_view text) {
  NumberedLines lines;
  const std::unique_ptr<ByteSource> source = OpenMemory(text);
  const Result<uint64_t> read = ForEachLogLine(
      *source, UINT64_MAX,
      [&](std::string_view line, int64_t number) { lines.emplace_back(line, number); });
  EXPECT_TRUE(read.ok());
  return lines;
}

std::string Utf16(std::u16string_view text, bool is_big) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char high = static_cast<char>(unit >> 8U);
    const char low = static_cast<char>(unit & 0xFFU);
    bytes += is_big ? high : low;
    bytes += is_big ? low : high;
  }
  return bytes;
}

TEST(LogEnvelopes, PartsOfLinesOfContainerd) {
  EXPECT_EQ(LinesOf("2026-11-01T10:00:31.5Z stderr P Trace\n"
                    "2026-11-01T10:00:32.5Z stdout F step 1\n"
                    "2026-11-01T10:00:33.5+01:00 stderr F:tag back\n"
                    "2026-11-01T10:00:34.5Z stderr F\n"
                    "plain\n"
                    "2026-11-01T10:00:35.5Z stderr P cut"),
            (NumberedLines{{"2026-11-01T10:00:32.5Z stdout F step 1", 2},
                           {"2026-11-01T10:00:31.5Z stderr F Traceback", 3},
                           {"2026-11-01T10:00:34.5Z stderr F ", 4},
                           {"plain", 5},
                           {"2026-11-01T10:00:35.5Z stderr F cut", 6}}));
  // Standard output does not interrupt what is on the other one.
  std::string kept;
  const LogLine line = CleanLogLine("2026-11-01T10:00:31.5Z stderr F   text", kept);
  EXPECT_EQ(line.text, "  text");
  EXPECT_EQ(line.output, LogOutput::kError);
  // What only looks like it.
  for (const std::string text :
       {"2026-11-01T10:00:31Z stderr X text", "2026-11-01T10:00:31Z other F text",
        "2026-11-01T10:00:31Z stderr Failed", "2026-11-01 10:00:31Z stderr F text",
        "2026-11-01T10:00:31Z", "2026-11-01T", "2026-11-01T10:00:31Z stderr "}) {
    EXPECT_EQ(LinesOf(text), (NumberedLines{{text, 1}}));
  }
}

TEST(LogEnvelopes, LinesOfDocker) {
  EXPECT_EQ(
      LinesOf(
          "{\"log\":\"a \\\"b\\\" "
          "\\u00e4\\ud83e\\uddDF\\u0041\\\\\\t|\\n\",\"stream\":\"stdout\",\"time\":"
          "\"2026-11-01T10:00:00Z\"}\n"
          "{\"log\":\"begin \",\"stream\":\"stderr\",\"time\":\"2026-11-01T10:00:01Z\"}\n"
          "{\"log\":\"10%\\r20%\\r\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-01T10:00:02Z\"}\n"
          "{\"log\":\"end\\n\",\"stream\":\"stderr\",\"attrs\":{},\"time\":\"x\"}\n"
          "{\"log\":\"\\ud800 \\udc00 \\uZZZZ \\u12"),
      (NumberedLines{{"2026-11-01T10:00:00Z stdout F a \"b\" \xC3\xA4\xF0\x9F\xA7\x9F"
                      "A\\\t|",
                      1},
                     {"2026-11-01T10:00:02Z stdout F 20%", 3},
                     {"2026-11-01T10:00:01Z stderr F begin end", 4},
                     {"\xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBDZZZZ \xEF\xBF\xBD"
                      "12",
                      5}}));
  EXPECT_EQ(LinesOf("{\"message\":\"x\"}"), (NumberedLines{{"{\"message\":\"x\"}", 1}}));
}

TEST(LogEnvelopes, OpenLinesAreBounded) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "2026-11-01T10:00:31.5Z stderr P " + std::string(16'384, 'x') + "\n";
  }
  const NumberedLines lines = LinesOf(text);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].first.size(), kLogLineBytes);
}

TEST(LogLines, TextsInUtf16) {
  const std::u16string text = u"\uFEFFstep \u00e4\U0001F9DF\r\nend";
  const NumberedLines expected = {{"step \xC3\xA4\xF0\x9F\xA7\x9F", 1}, {"", 1}, {"end", 2}};
  EXPECT_EQ(LinesOf(Utf16(text, false)), expected);
  EXPECT_EQ(LinesOf(Utf16(text, true)), expected);
  // Halves of pairs, and half a unit at the end.
  EXPECT_EQ(LinesOf(Utf16(std::u16string{0xFEFF, 0xD800, u'a', 0xDC00, u'b'}, false) + "c"),
            (NumberedLines{{"\xEF\xBF\xBD"
                            "a\xEF\xBF\xBD"
                            "b",
                            1}}));
  EXPECT_EQ(LinesOf("\xEF\xBB\xBFhello"), (NumberedLines{{"hello", 1}}));
  EXPECT_TRUE(LinesOf("\xFF\xFE").empty());
  // Units that lie across two reads.
  std::u16string large = u"\uFEFF";
  for (int i = 0; i < 40'000; ++i) large += u"\U0001F9DF";
  const NumberedLines lines = LinesOf(Utf16(large, false));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].first.find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_EQ(lines[0].first.size(), kLogLineBytes);
}

TEST(LogLines, PrefixesOfShippersAndLoggers) {
  std::string kept;
  LogLine line = CleanLogLine("[pod/job-worker-2/pytorch] 2026-11-01T10:00:00Z hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.source, "job-worker-2");
  EXPECT_FALSE(line.rank.has_value());  // the number of a pod is not the rank
  EXPECT_NE(line.unix_ns, 0);
  line = CleanLogLine("Nov  1 10:00:31 node7 train[4242]:   hello", kept);
  EXPECT_EQ(line.text, "  hello");
  EXPECT_EQ(line.source, "node7");
  EXPECT_EQ(line.pid, 4242);
  EXPECT_EQ(line.year_ns, YearNsOf("1101 10:00:31"));
  line = CleanLogLine("2026-11-01T10:00:31.1+00:00 node7 kernel: [12.3] NVRM: x", kept);
  EXPECT_EQ(line.text, "[12.3] NVRM: x");
  EXPECT_EQ(line.source, "node7");
  line = CleanLogLine("[prterun-node7-77@1,2]<stderr>: hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.rank, 2);
  EXPECT_EQ(line.basis, LogRankBasis::kTask);
  line = CleanLogLine("2026-11-01 10:00:31,123 [ERROR] [rank 5]   hello", kept);
  EXPECT_EQ(line.text, "  hello");
  EXPECT_EQ(line.rank, 5);
  line = CleanLogLine("[2026-11-01 10:00:31,123][rank5][ERROR] -   hello", kept);
  EXPECT_EQ(line.text, "  hello");
  EXPECT_EQ(line.rank, 5);
  line = CleanLogLine("[rank: 3] hello", kept);
  EXPECT_EQ(line.text, "hello");
  EXPECT_EQ(line.rank, 3);
  for (const std::string_view plain :
       {"[pod/x", "Nov  1 10:00:31", "Nov  1 10:00:31 node7", "[ERROR] hello", "[rank5] hello",
        "[rank x] hello", "[rank: -3] hello", "- hello", "May be 12:00:00 no time", "[a@1,2] x",
        "[a@1,]<stderr>: x", "[@]<stderr>: x"}) {
    EXPECT_EQ(CleanLogLine(plain, kept).text, plain);
  }
}

}  // namespace
}  // namespace borescope::internal
