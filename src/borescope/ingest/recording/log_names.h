// What the records of a log refer to, gathered before its events are read, because no order among
// chunks is promised: texts, names of domains and threads, code of Python, devices of contexts,
// details of calls; and what is known of the process itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/recording/log_chunks.h"
#include "borescope/ingest/recording/recording_trace.h"
#include "borescope/recording/log_format.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// The records of a chunk, one after the other, each checked for its length.

// A number of two halves.
inline uint32_t LowHalf(uint64_t word) { return static_cast<uint32_t>(word); }
inline uint32_t HighHalf(uint64_t word) { return static_cast<uint32_t>(word >> 32U); }

struct LogRecord {
  recording::RecordHead head;
  std::span<const uint64_t> body;  // the words after the first

  recording::RecordType type() const { return static_cast<recording::RecordType>(head.type); }

  // The text that begins at a word of the body.
  std::string_view Text(size_t word) const {
    const auto rest = body.subspan(std::min(word, body.size()));
    const size_t padding = head.flags & recording::kPaddingMask;
    return {reinterpret_cast<const char*>(rest.data()),  // NOLINT: bytes of words
            rest.size_bytes() - std::min(padding, rest.size_bytes())};
  }

  // A structure that begins at a word. REQUIRES: the body holds all of it.
  template <class T>
  T As(size_t word = 0) const {
    T value;
    std::memcpy(&value, body.data() + word, sizeof(T));
    return value;
  }
};

// How many words the body of a record of this type has at least; kUnknownRecord for other types.
inline constexpr size_t kUnknownRecord = ~size_t{0};
size_t LeastWords(const recording::RecordHead& head);

class LogRecords {
 public:
  explicit LogRecords(std::span<const uint64_t> words) : rest_(words) {}

  // The next record; false after the last one that is complete.
  bool Next(LogRecord& record) {
    if (rest_.empty() || rest_.front() == 0) {
      return false;
    }
    record.head = recording::UnpackHead(rest_.front());
    if (record.head.type == 0 || record.head.words == 0 || record.head.words > rest_.size()) {
      is_torn_ = true;
      return false;
    }
    record.body = rest_.subspan(1, record.head.words - 1U);
    rest_ = rest_.subspan(record.head.words);
    return true;
  }

  // Whether the records ended with one that cannot be.
  bool is_torn() const { return is_torn_; }

 private:
  std::span<const uint64_t> rest_;
  bool is_torn_ = false;
};

// The last moment that a record speaks of; 0 where it has no time. REQUIRES: the record is long
// enough for its type.
uint64_t LastMomentOf(const LogRecord& record);
// Whether other records may refer to it by a number, for as long as the log is written: a text, a
// name, code, a device, or what is known of the process.
bool IsNameRecord(const LogRecord& record);

// What is recorded about devices.

// Adds the device, unless it is there: processes of a recording see the same ones. `text` is the
// JSON object that describes it; members that are not known are passed over.
void AddRecordedDevice(std::vector<DeviceInfo>& devices, uint32_t id, std::string_view text);

// The name of a series of samples.
struct SeriesName {
  std::string_view type;      // "gpu"
  int64_t device = kMissing;  // its number; missing if the text has not this form
  std::string_view name;      // "power"
};
SeriesName ParseSeriesName(std::string_view text);

// The grid of a kernel as the call says it that launched it.
struct LaunchShape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;  // dynamic
};

// Hardware counters of a launch of a kernel.
struct CountedLaunch {
  recording::CountersBody body;
  std::vector<std::pair<uint32_t, double>> values;  // by the text that is the name of the metric
};

class LogNames {
 public:
  LogNames(RecordingTrace& trace, const LogProcess& process) : trace_(trace), process_(process) {}

  // The chunks are read in any order; each names its writer.
  void AddChunk(const recording::ChunkHeader& header);
  // A record that is long enough for its type.
  void Add(const LogRecord& record);
  // After all records.
  void Finish();

  // Empty for 0, and, counted, where no text has the number.
  StringId Text(uint32_t id);
  // The name of a domain of ranges; empty if it has none.
  StringId DomainOf(uint32_t domain) const { return Find(domains_, domain); }
  // The frame that calls of this code are, "file.py(12): function".
  StringId Frame(uint32_t code);
  // The device of a context; -1 if that was not recorded.
  int64_t DeviceOf(uint32_t context) const;
  // The number of a thread by what the vendor's library calls it; 0: unknown.
  uint32_t ThreadOf(uint64_t recorded) const;
  // What was said about the arguments of a call; empty if nothing was.
  StringId ArgumentsOf(uint32_t correlation) const { return Find(arguments_, correlation); }
  // Of the kernel that a call launched; a null pointer where the call does not say it. Valid until
  // the next record is added.
  const LaunchShape* ShapeOf(uint32_t correlation) const;
  // A null pointer where nothing was counted for the launch.
  const CountedLaunch* CountersOf(uint32_t correlation) const;
  // By correlation.
  const std::map<uint32_t, CountedLaunch>& counters() const { return counters_; }
  // kMissing where nothing was linked.
  int64_t ExternalOf(uint32_t correlation) const;

  // Unix time at zero of the monotonic clock, by the best reading of both; nothing without one.
  std::optional<int64_t> base_ns() const { return base_ns_; }
  // The JSON object that describes the process; empty if none was written.
  const std::string& process_text() const { return process_text_; }
  // The last moment of which the process recorded anything.
  int64_t last_ns() const { return last_ns_; }

 private:
  struct Code {
    uint32_t file;
    uint32_t line;
    StringId name;
  };

  template <class Map>
  static StringId Find(const Map& map, uint32_t key) {
    const auto found = map.find(key);
    return found == map.end() ? StringId{0} : found->second;
  }
  void AddName(const LogRecord& record);
  void AddAnchor(const LogRecord& record);
  void AddDevice(const LogRecord& record);
  void AddDetail(const LogRecord& record);
  void AddCounters(const LogRecord& record);
  void AddShape(const LogRecord& record);
  void Reached(uint64_t ns);

  RecordingTrace& trace_;
  const LogProcess& process_;
  HashMap<uint32_t, StringId> texts_, domains_, frames_, arguments_;
  std::vector<std::pair<uint32_t, Code>> codes_;
  HashMap<uint32_t, uint32_t> devices_;         // by context
  HashMap<uint32_t, uint32_t> threads_;         // by the low half of pthread_self
  HashMap<uint32_t, int64_t> externals_;        // by correlation
  std::map<uint32_t, CountedLaunch> counters_;  // in order, as they are read out
  HashMap<uint32_t, LaunchShape> shapes_;       // by correlation
  std::optional<int64_t> base_ns_;
  uint64_t half_width_ = ~uint64_t{0};
  std::string process_text_;
  int64_t last_ns_ = 0;
};

}  // namespace borescope::internal
