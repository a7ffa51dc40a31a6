// Whatever the bytes are: logs and error files of a job give events whose texts are short, valid
// UTF-8 and in one line, and which are in the order of the lines.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/text/text.h"
#include "borescope/postmortem/logs/error_files.h"
#include "borescope/postmortem/logs/log_lines.h"
#include "borescope/postmortem/logs/log_scan.h"
#include "borescope/postmortem/program_line.h"

namespace {

using borescope::internal::LogEvent;

void CheckEvents(const std::vector<LogEvent>& events) {
  constexpr size_t kLongestText = 400;
  for (const LogEvent& event : events) {
    BS_CHECK(event.text.size() <= kLongestText);
    BS_CHECK(borescope::internal::IsValidUtf8(event.text));
    BS_CHECK(borescope::internal::IsValidUtf8(event.program_line));
    BS_CHECK(event.text.find('\n') == std::string_view::npos);
    BS_CHECK(event.count > 0);
  }
  BS_CHECK(std::is_sorted(events.begin(), events.end(),
                          [](const LogEvent& a, const LogEvent& b) { return a.line < b.line; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace borescope::internal;  // NOLINT(google-build-using-namespace): all of it is ours
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  static const Result<LineFinder> lines = LineFinder::Make("");
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes);
  LogScanner scanner(*lines);
  const Result<uint64_t> read =
      ForEachLogLine(*source, UINT64_MAX, [&](std::string_view line, int64_t number) {
        BS_CHECK(line.size() <= kLogLineBytes);
        scanner.Take(line, number);
      });
  BS_CHECK(read.ok() && *read == size);
  CheckEvents(scanner.Finish());
  for (const ErrorFileKind kind : {ErrorFileKind::kElastic, ErrorFileKind::kPySpy}) {
    if (const std::optional<std::vector<LogEvent>> events = ReadErrorFile(kind, bytes, *lines)) {
      CheckEvents(*events);
    }
  }
  return 0;
}
