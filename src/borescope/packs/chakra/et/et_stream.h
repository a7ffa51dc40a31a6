// A .et file: records one after the other, each the length of a message as a varint and then the
// message. The first one is the metadata, all others are nodes. There is no magic number, no count
// and no end mark.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/packs/chakra/et/et_codec.h"

namespace borescope::internal {

// Writes records to a sink in pieces. Failures of the sink are kept; Finish returns them.
class EtWriter {
 public:
  explicit EtWriter(Sink& sink) : out_(sink) {}

  void Add(const EtMetadata& metadata);
  void Add(const EtNode& node);
  Result<void> Finish() { return out_.Finish(); }

 private:
  void AddRecord();

  BufferedSink out_;
  std::string record_;
};

// Reads the records of a .et file in memory.
class EtReader {
 public:
  explicit EtReader(std::string_view bytes) : bytes_(bytes) {}

  // Reads the next record, which must be the first or a node. False at the end. An error names
  // record and byte, as in "record 12 at byte 812: a field ends early". A record without a byte, at
  // which readers of the reference stop, is counted and skipped.
  Result<bool> Next(EtMetadata& metadata);
  Result<bool> Next(EtNode& node);

  uint64_t empty_records() const { return empty_records_; }
  // Records read so far, empty ones too.
  uint64_t records() const { return records_; }

 private:
  Result<std::optional<std::string_view>> NextRecord(bool may_be_empty);
  Error ErrorHere(std::string_view cause) const;

  std::string_view bytes_;
  size_t next_ = 0;
  size_t record_begin_ = 0;
  uint64_t records_ = 0;
  uint64_t empty_records_ = 0;
};

// All bytes of the file, or of standard input for "-", inflated if it is compressed. For a damaged
// compressed file, the error names it.
Result<std::string> ReadInflated(const std::string& path);

// The edges of a graph by number of node: what each node depends on.
class DependencyGraph {
 public:
  // Nodes are added in order, each with its dependencies (numbers of nodes, also of later ones).
  void Add(std::span<const uint32_t> dependencies);

  uint32_t size() const { return static_cast<uint32_t>(begins_.size() - 1); }
  std::span<const uint32_t> DependenciesOf(uint32_t node) const {
    return std::span(targets_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

  // The nodes of one circle from its smallest number on, each depending on the one before it and
  // the first on the last; empty if there is none. REQUIRES: all dependencies were added.
  std::vector<uint32_t> FindCycle() const;

 private:
  std::vector<uint32_t> DependentsLeft() const;

  std::vector<size_t> begins_ = {0};
  std::vector<uint32_t> targets_;
};

// A whole .et in memory, for checks and simulations.

struct EtFile {
  EtMetadata metadata;
  std::vector<EtNode> nodes;           // in the order of the file
  HashMap<uint64_t, uint32_t> places;  // of the first node with an id
  uint64_t empty_records = 0;
  uint64_t unknown_fields = 0;
};

// `bytes` must outlive the result. Errors are those of EtReader; kCorrupt for an empty file.
Result<EtFile> ReadEt(std::string_view bytes);

// Data dependencies on nodes of the file, by place in the file.
DependencyGraph DataGraph(const EtFile& et);

// The ids of nodes in the order in which the feeder of the reference hands them to a simulator that
// ends each one before it takes the next: always the smallest id that waits for nothing. Nodes that
// can never start are missing: those in circles, those that name a node twice or one that is not
// there, and those that depend on such nodes.
std::vector<uint64_t> IssueOrder(const EtFile& et);

}  // namespace borescope::internal
