// What dead jobs left, as rows of SQL: the dumps, memory snapshots and logs of one rank. They are
// read before statements run; what is computed of them (replays, stacks, logs) is made when a
// statement asks for it first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/flight_recorder/flight_dump.h"
#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/logs/job_logs.h"
#include "borescope/postmortem/memory/held.h"
#include "borescope/postmortem/memory/replay.h"
#include "borescope/postmortem/memory/snapshot.h"

namespace borescope::internal::query {

// One file: of a dump `dump`, of a snapshot `snapshot`, and neither if it could not be read.
struct JobSource {
  JobFileRow file;
  std::optional<FlightDump> dump = {};
  std::optional<postmortem::MemorySnapshot> snapshot = {};
};

// Things that have a number of rows each, as one list of rows.
template <class Part>
class RowParts {
 public:
  void Add(const Part& part, size_t rows) {
    parts_.push_back(part);
    ends_.push_back(size() + rows);
  }
  size_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  // The part that a row is of, and which of its rows it is. REQUIRES: row < size().
  std::pair<const Part&, uint32_t> At(uint32_t row) const {
    const auto part =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), row) - ends_.begin());
    return {parts_[part], static_cast<uint32_t>(row - (part == 0 ? 0 : ends_[part - 1]))};
  }

 private:
  std::vector<Part> parts_;
  std::vector<size_t> ends_;
};

// A frame of a stack: `stack` is its number in the rank.
struct JobFrame {
  int64_t stack = 0;
  int64_t depth = 0;
  std::string_view file;
  std::string_view name;
  int64_t line = 0;
};

// Used by one thread at a time. Views live as long as this.
class JobData {
 public:
  struct DumpPart {
    const FlightDump* dump;
    size_t source;  // among sources()
  };
  struct DevicePart {
    const postmortem::MemorySnapshot* snapshot;
    const postmortem::DeviceMemory* device;
    size_t number;           // among the devices of all snapshots
    int64_t first_stack;     // of the snapshot
    uint32_t first_segment;  // of the device, among all
  };
  // A device by the model of the allocator; `held` is empty where it cannot be replayed.
  struct Replayed {
    postmortem::Replay replay;
    postmortem::HeldMemory held;
    bool is_possible = false;
  };

  explicit JobData(std::vector<JobSource> sources);
  JobData(const JobData&) = delete;
  JobData& operator=(const JobData&) = delete;

  // Of the rank that has the logs; `read` is called once, when a statement asks for them.
  void SetLogs(std::function<std::vector<LogFindingRow>()> read) { read_logs_ = std::move(read); }

  const std::vector<JobSource>& sources() const { return sources_; }
  const RowParts<DumpPart>& entries() const { return entries_; }
  const RowParts<DumpPart>& groups() const { return groups_; }
  const RowParts<DumpPart>& status() const { return status_; }
  const RowParts<DevicePart>& segments() const { return segments_; }
  const RowParts<DevicePart>& blocks() const { return blocks_; }
  const RowParts<DevicePart>& events() const { return events_; }
  const RowParts<DevicePart>& annotations() const { return annotations_; }
  const std::vector<LogFindingRow>& logs() const;

  const Replayed& ReplayOf(const DevicePart& device) const;
  // The number of an entry's stack in `frames`; nothing without one.
  std::optional<int64_t> StackOf(const DumpPart& part, const FlightEntry& entry) const;
  size_t frames() const;
  JobFrame FrameAt(uint32_t row) const;

  // "[[4, 16]]" of a list of sizes, "Float, Int" of types: at most some hundred letters, as a small
  // file can name a large list many times.
  std::string_view SizesText(const DumpPart& part, uint32_t list) const;
  std::string_view TypesText(const DumpPart& part, uint32_t list) const;
  std::string_view RanksText(const DumpPart& part, uint32_t group) const;

 private:
  struct Stacks {
    // Of dumps: the number of each list of frames, by source and list.
    HashMap<uint64_t, int64_t> numbers;
    std::vector<size_t> ends;                      // rows of `frames` up to each stack
    std::vector<std::vector<FlightFrame>> frames;  // of the stacks of dumps
  };
  void AddDump(size_t source);
  void AddSnapshot(size_t source);
  const Stacks& StacksOf() const;
  std::string_view Text(uint64_t key, const std::function<std::string()>& make) const;

  std::vector<JobSource> sources_;
  RowParts<DumpPart> entries_;
  RowParts<DumpPart> groups_;
  RowParts<DumpPart> status_;
  RowParts<DevicePart> segments_;
  RowParts<DevicePart> blocks_;
  RowParts<DevicePart> events_;
  RowParts<DevicePart> annotations_;
  std::vector<const postmortem::MemorySnapshot*> snapshots_;
  int64_t snapshot_stacks_ = 0;  // of all snapshots; those of dumps come after them
  size_t devices_ = 0;
  std::function<std::vector<LogFindingRow>()> read_logs_;

  // Made when they are asked for.
  mutable std::optional<std::vector<LogFindingRow>> logs_;
  mutable std::vector<std::unique_ptr<Replayed>> replays_;
  mutable std::optional<Stacks> stacks_;
  mutable HashMap<uint64_t, std::unique_ptr<std::string>> texts_;
};

}  // namespace borescope::internal::query
