#include "borescope/packs/chakra/et/et_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/varint.hpp>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/inflate.h"
#include "borescope/base/io/unchanged.h"
#include "borescope/base/stop.h"
#include "borescope/packs/chakra/et/et_codec.h"

namespace borescope::internal {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;

void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Behind the text is room for parsers that read beyond its end.
constexpr size_t kRoomBytes = 64;
// A size that is recorded is believed this far only.
constexpr uint64_t kMostReserved = uint64_t{1} << 32;

Result<std::string> ReadToEnd(ByteSource& source) {
  std::string bytes;
  bytes.reserve(std::min(source.stored_total(), kMostReserved) + kPieceBytes + kRoomBytes);
  for (size_t size = 0;;) {
    bytes.resize(size + kPieceBytes);
    BS_ASSIGN(const size_t got, ReadFully(source, bytes.data() + size, bytes.size() - size));
    if (size + got < bytes.size()) {
      bytes.resize(size + got);
      return bytes;
    }
    size += got;
  }
}

}  // namespace

void EtWriter::Add(const EtMetadata& metadata) {
  record_.clear();
  AppendMetadata(metadata, record_);
  AddRecord();
}

void EtWriter::Add(const EtNode& node) {
  record_.clear();
  AppendNode(node, record_);
  AddRecord();
}

void EtWriter::AddRecord() {
  AppendVarint(out_.text(), record_.size());
  out_.Put(record_);
}

Error EtReader::ErrorHere(std::string_view cause) const {
  return {ErrorCode::kCorrupt,
          fmt::format("record {} at byte {}: {}", records_, record_begin_, cause),
          "the file is damaged or no .et"};
}

Result<std::optional<std::string_view>> EtReader::NextRecord(bool may_be_empty) {
  while (next_ != bytes_.size()) {
    record_begin_ = next_;
    CheckStopAt(records_);
    records_ += 1;
    const char* place = bytes_.data() + next_;
    const char* const end = bytes_.data() + bytes_.size();
    uint64_t length = 0;
    try {
      length = protozero::decode_varint(&place, end);
    } catch (const protozero::exception&) {
      return ErrorHere("its length cannot be read");
    }
    const auto left = static_cast<uint64_t>(end - place);
    if (length > left) {
      return ErrorHere(fmt::format("it says {} bytes, and {} are left", length, left));
    }
    const std::string_view record(place, length);
    next_ = static_cast<size_t>(place - bytes_.data()) + length;
    if (!record.empty() || may_be_empty) {
      return std::optional(record);
    }
    empty_records_ += 1;
  }
  return std::optional<std::string_view>();
}

Result<bool> EtReader::Next(EtMetadata& metadata) {
  BS_ASSIGN(const std::optional<std::string_view> record, NextRecord(true));
  if (record.has_value()) {
    if (const Result<void> read = DecodeMetadata(*record, metadata); !read.ok()) {
      return ErrorHere(read.error().cause);
    }
  }
  return record.has_value();
}

Result<bool> EtReader::Next(EtNode& node) {
  BS_ASSIGN(const std::optional<std::string_view> record, NextRecord(false));
  if (record.has_value()) {
    if (const Result<void> read = DecodeNode(*record, node); !read.ok()) {
      return ErrorHere(read.error().cause);
    }
  }
  return record.has_value();
}

namespace {

Result<std::string> ReadOnce(const std::string& path) {
  BS_ASSIGN(std::unique_ptr<ByteSource> file, OpenFile(path));
  Result<OpenedSource> opened = InflateIfCompressed(std::move(file));
  if (!opened.ok()) {
    return InFile(path, opened.error());
  }
  Result<std::string> bytes = ReadToEnd(*opened->bytes);
  if (!bytes.ok()) {
    return InFile(path, bytes.error());
  }
  if (opened->inflating != nullptr && !opened->inflating->damage().empty()) {
    return Error{ErrorCode::kCorrupt, fmt::format("{}", opened->inflating->damage()),
                 "copy the file again", path};
  }
  return bytes;
}

}  // namespace

Result<std::string> ReadInflated(const std::string& path) {
  return ReadUnchanged(path, [&] { return ReadOnce(path); });
}

}  // namespace borescope::internal
