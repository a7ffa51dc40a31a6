// A .et file: records one behind the other, each the length of a message as a varint and then the
// message. The first is the metadata, all others are nodes. No magic number, no count, no end mark.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/packs/chakra/et/et_schema.h"

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

// Goes through the records of a .et file in memory.
class EtReader {
 public:
  explicit EtReader(std::string_view bytes) : bytes_(bytes) {}

  // The next record, which must be the first or a node. False at the end. An error names record and
  // byte, as in "record 12 at byte 812: a field ends early". A record without a byte, at which
  // readers of the reference stop, is counted and passed over.
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

// All bytes of the file, or of standard input for "-", inflated where it is compressed. A damaged
// compressed file is an error that names it.
Result<std::string> ReadInflated(const std::string& path);

}  // namespace borescope::internal
