// Lines of a log as the program wrote them: without colours, without what launchers and loggers put
// before them, and with the rank and the time that these say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"

namespace borescope::internal {

// Longer lines are cut there.
inline constexpr size_t kLogLineBytes = size_t{64} << 10U;

// Calls `use` with each line and its number, from 1, without its end. What a progress bar wrote
// over, up to a carriage return, is a line of the same number. Lines that a container runtime
// stored come as log_envelopes.h gives them, those of a file in UTF-16 with its mark as UTF-8.
// Stops reading at `most` bytes; returns how many were read. Memory does not grow with the source.
// Stops as stop.h says.
Result<uint64_t> ForEachLogLine(
    ByteSource& source, uint64_t most,
    const std::function<void(std::string_view line, int64_t number)>& use);

// Where the rank of a line is from.
enum class LogRankBasis : uint8_t {
  kNone,
  kTask,   // "3: " of srun --label, "[1,3]<stderr>:" and "[3] " of MPI: the task, which is the rank
           // where each rank is a task
  kLocal,  // "[default3]:" of torchrun: the place on its node, the rank of a job on one node
  kRank,   // "[rank3]:" of PyTorch
};

// To which of the two a process wrote a line.
enum class LogOutput : uint8_t { kUnknown, kStandard, kError };

struct LogLine {
  std::string_view text;  // what the program wrote; blanks before it stay
  std::optional<int32_t> rank;
  LogRankBasis basis = LogRankBasis::kNone;
  bool is_place = false;  // the rank is a number in brackets alone, as other programs write, too
  std::optional<int64_t> pid;  // of Ray's prefix, and syslog's
  LogOutput output = LogOutput::kUnknown;
  std::string_view source;     // the pod by kubectl's prefix, the host by syslog's; else empty
  int64_t unix_ns = 0;         // of a time with its zone before the line; 0: none
  int64_t year_ns = 0;         // of a time without one: as YearNsOf gives it; 0: none
  bool is_time_least = false;  // the time is of an earlier line: this one was written then or later
};

// Takes colours off `raw` into `kept`, which holds the text of what comes back, and everything of
// the launcher's off the front.
LogLine CleanLogLine(std::string_view raw, std::string& kept);

// What a logger or a launcher that is not known by itself puts before each line, as it is
// before the header of a traceback: its digits may be any others, and its blanks any number of
// them.
class LearnedPrefixes {
 public:
  // Takes such a prefix off `line`, whose known prefixes are off, and known ones that follow. The
  // header of a traceback in `line` is learned from.
  void TakeOff(LogLine& line);

 private:
  std::vector<std::string> shapes_;  // at most 16
};

// Nanoseconds since 1970 of "2026-11-28T12:00:00.5Z", also with a blank for the T, a comma for the
// point and "+01:00". Nothing of a time without a zone: hosts are set to any.
std::optional<int64_t> UnixNsOf(std::string_view time);

// Nanoseconds since the begin of the year, plus one, of a time without its zone at the begin of
// `time`, to compare times of one clock: "2026-11-28 12:00:00,123", also with T, '_' and slashes;
// "1128 12:00:00.5" of glog; "Nov 28 12:00:00" of syslog. The year counts for nothing: two of these
// forms have none. 0 of what is no time.
int64_t YearNsOf(std::string_view time);

// How much later `b` is than `a`, both as YearNsOf gives them: at most half a year either way.
int64_t YearNsBetween(int64_t a, int64_t b);

}  // namespace borescope::internal
