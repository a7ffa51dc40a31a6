#include "borescope/base/sqlite/sqlite_pages.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

// Offsets in the file header.
constexpr size_t kFileHeaderBytes = 100;
constexpr size_t kPageSizeAt = 16;
constexpr size_t kReservedAt = 20;
constexpr size_t kEncodingAt = 56;
constexpr uint32_t kUtf8 = 1;

// Offsets in the header of a table page.
constexpr unsigned char kInteriorPage = 5;
constexpr unsigned char kLeafPage = 13;
constexpr size_t kCellCountAt = 3;
constexpr size_t kLastChildAt = 8;
constexpr size_t kLeafHeaderBytes = 8;
constexpr size_t kInteriorHeaderBytes = 12;

// Serial types: type and length of a field. Even ones from kFirstBlob on are blobs, odd ones texts.
// 10 is reserved by the format, and is used here for a row id.
constexpr uint64_t kNull = 0;
constexpr uint64_t kInteger64 = 6;
constexpr uint64_t kReal = 7;
constexpr uint64_t kZero = 8;
constexpr uint64_t kOne = 9;
constexpr uint64_t kRowId = 10;
constexpr uint64_t kFirstBlob = 12;

// As in SqlDatabase: SQLite refuses longer rows.
constexpr uint64_t kLongestRow = uint64_t{1} << 28;

uint32_t Get16(const unsigned char* at) { return uint32_t{at[0]} << 8 | at[1]; }

uint32_t Get32(const unsigned char* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

uint64_t Get64(const unsigned char* at) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

// Seven bits per byte, most significant first, eight in the ninth. False at the end of the bytes.
// Rare, and therefore kept out of the loops that read small numbers.
[[gnu::noinline]] bool ReadLongVarint(const unsigned char*& at, const unsigned char* end,
                                      uint64_t& value) {
  constexpr int kMostBytes = 9;
  value = 0;
  for (int i = 1; at < end; ++i) {
    const unsigned char byte = *at++;
    if (i == kMostBytes) {
      value = value << 8 | byte;
      return true;
    }
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

bool ReadVarint(const unsigned char*& at, const unsigned char* end, uint64_t& value) {
  if (at < end && *at < 0x80) {
    value = *at++;
    return true;
  }
  return ReadLongVarint(at, end, value);
}

uint64_t BytesOf(uint64_t serial) {
  constexpr std::array<uint8_t, kFirstBlob> kBytes = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return serial < kFirstBlob ? kBytes[serial] : (serial - kFirstBlob) / 2;
}

double RealAt(const unsigned char* at) { return std::bit_cast<double>(Get64(at)); }

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// What the file header says about the pages.
struct FileHeader {
  uint32_t page_bytes = 0;
  uint32_t reserved_bytes = 0;  // of each page
  uint32_t encoding = 0;
};

// All 0 if there is none.
FileHeader ReadFileHeader(const StoredBytes& file) {
  std::vector<unsigned char> buffer;
  const unsigned char* header = file.Read(0, kFileHeaderBytes, buffer);
  if (header == nullptr || std::memcmp(header, kSqliteMagic.data(), kSqliteMagic.size()) != 0) {
    return {};
  }
  const uint32_t bytes = Get16(header + kPageSizeAt);
  return {bytes == 1 ? 65536 : bytes, header[kReservedAt], Get32(header + kEncodingAt)};
}

bool IsPlain(const FileHeader& header) {
  constexpr uint32_t kSmallestPage = 512;
  constexpr uint32_t kLeastUsable = 480;
  return header.page_bytes >= kSmallestPage && std::has_single_bit(header.page_bytes) &&
         header.page_bytes - header.reserved_bytes >= kLeastUsable && header.encoding == kUtf8;
}

}  // namespace

bool PageRows::CanRead(const StoredBytes& file) { return IsPlain(ReadFileHeader(file)); }

PageRows::PageRows(const StoredBytes& file, const StoredTable& table, std::span<const int> columns)
    : file_(&file), root_page_(table.root_page) {
  // A file that was truncated to nothing since has no pages.
  if (const FileHeader header = ReadFileHeader(file); IsPlain(header)) {
    page_bytes_ = header.page_bytes;
    usable_bytes_ = header.page_bytes - header.reserved_bytes;
    page_count_ = file.size() / page_bytes_;
  }
  pages_left_ = page_count_;
  tail_pages_left_ = page_count_;
  for (const int column : columns) {
    stored_fields_ = std::max(stored_fields_, static_cast<size_t>(column + 1));
  }
  BS_CHECK(stored_fields_ <= table.columns.size());
  fields_.resize(stored_fields_ + 1);
  has_default_.resize(stored_fields_);
  for (size_t i = 0; i < stored_fields_; ++i) {
    has_default_[i] = table.columns[i].has_default ? 1 : 0;
    row_id_field_ = table.columns[i].is_row_id ? static_cast<int>(i) : row_id_field_;
  }
  places_.reserve(columns.size());
  for (const int column : columns) {
    const bool is_real = column != kNoColumn && table.columns[static_cast<size_t>(column)].is_real;
    places_.push_back(
        {static_cast<uint32_t>(column == kNoColumn ? stored_fields_ : static_cast<size_t>(column)),
         is_real});
  }
}

// The first page begins with the header of the file and belongs to the schema, so a table with this
// page is damaged.
bool PageRows::HasPage(uint32_t number) const { return number >= 2 && number <= page_count_; }

// nullptr if the file is shorter now, with errno 0, or where reading fails, with its error.
const unsigned char* PageRows::PageAt(uint32_t number, std::vector<unsigned char>& buffer) const {
  return file_->Read(uint64_t{number - 1} * page_bytes_, page_bytes_, buffer);
}

PageStep PageRows::Enter(uint32_t page_number) {
  if (!HasPage(page_number) || depth_ == kMostLevels) {
    return PageStep::kUnknown;
  }
  if (pages_left_ == 0) {
    return PageStep::kLooped;
  }
  --pages_left_;
  Level& level = levels_[depth_];
  const unsigned char* page = PageAt(page_number, level.buffer);
  if (page == nullptr) {
    read_error_ = errno;
    return PageStep::kGone;
  }
  const bool is_leaf = page[0] == kLeafPage;
  const uint32_t cells = Get16(page + kCellCountAt);
  const size_t header_bytes = is_leaf ? kLeafHeaderBytes : kInteriorHeaderBytes;
  if ((!is_leaf && page[0] != kInteriorPage) || header_bytes + size_t{2} * cells > usable_bytes_) {
    return PageStep::kUnknown;
  }
  level.page = page;
  level.cell = 0;
  level.cells = cells;
  ++depth_;
  return PageStep::kRow;
}

// Continues from the interior page at the end of the levels: to its next child, or up.
PageStep PageRows::Descend() {
  Level& level = levels_[depth_ - 1];
  if (level.cell > level.cells) {
    --depth_;
    return PageStep::kRow;
  }
  if (level.cell == level.cells) {
    ++level.cell;
    return Enter(Get32(level.page + kLastChildAt));
  }
  const uint32_t at = Get16(level.page + kInteriorHeaderBytes + size_t{2} * level.cell);
  if (at + sizeof(uint32_t) > usable_bytes_) {
    return PageStep::kUnknown;
  }
  ++level.cell;
  return Enter(Get32(level.page + at));
}

PageStep PageRows::Next() {
  if (!is_started_) {
    is_started_ = true;
    if (const PageStep step = Enter(root_page_); step != PageStep::kRow) {
      return step;
    }
  }
  while (depth_ > 0) {
    Level& level = levels_[depth_ - 1];
    if (level.page[0] == kInteriorPage) {
      if (const PageStep step = Descend(); step != PageStep::kRow) {
        return step;
      }
    } else if (level.cell < level.cells) {
      const uint32_t at = Get16(level.page + kLeafHeaderBytes + size_t{2} * level.cell++);
      return ReadCell(level.page, at);
    } else {
      --depth_;
    }
  }
  return PageStep::kEnd;
}

// A long row has its tail on overflow pages; the format defines how much stays.
PageStep PageRows::ReadCell(const unsigned char* page, uint32_t at) {
  const unsigned char* end = page + usable_bytes_;
  const unsigned char* cell = std::min(page + at, end);
  uint64_t size = 0;
  uint64_t row_id = 0;
  if (!ReadVarint(cell, end, size) || !ReadVarint(cell, end, row_id) || size > kLongestRow) {
    return PageStep::kUnknown;
  }
  row_id_ = static_cast<int64_t>(row_id);
  const uint64_t most = usable_bytes_ - 35;
  uint64_t stored = size;
  if (size > most) {
    const uint64_t least = (usable_bytes_ - 12) * 32 / 255 - 23;
    const uint64_t filled = least + (size - least) % (usable_bytes_ - 4);
    stored = filled <= most ? filled : least;
  }
  const uint64_t tail_link = size > most ? sizeof(uint32_t) : 0;
  if (stored + tail_link > static_cast<uint64_t>(end - cell)) {
    return PageStep::kUnknown;
  }
  return ReadRecord({cell, size, stored});
}

PageStep PageRows::ReadRecord(const Payload& payload) {
  Parsed parsed = Parse(payload.begin, payload.stored);
  if (parsed == Parsed::kCut && payload.stored < payload.size) {
    if (const PageStep step = CollectTail(payload); step != PageStep::kRow) {
      return step;
    }
    parsed = Parse(BytesOf(record_), record_.size());
  }
  return parsed == Parsed::kYes ? PageStep::kRow : PageStep::kUnknown;
}

PageStep PageRows::CollectTail(const Payload& payload) {
  record_.assign(reinterpret_cast<const char*>(payload.begin), payload.stored);
  uint32_t number = Get32(payload.begin + payload.stored);
  while (record_.size() < payload.size) {
    if (!HasPage(number) || tail_pages_left_ == 0) {
      return HasPage(number) ? PageStep::kLooped : PageStep::kUnknown;
    }
    --tail_pages_left_;
    const unsigned char* page = PageAt(number, tail_buffer_);
    if (page == nullptr) {
      read_error_ = errno;
      return PageStep::kGone;
    }
    const size_t bytes =
        std::min<size_t>(payload.size - record_.size(), usable_bytes_ - sizeof(uint32_t));
    record_.append(reinterpret_cast<const char*>(page) + sizeof(uint32_t), bytes);
    number = Get32(page);
  }
  return PageStep::kRow;
}

// The header of a row has the serial types of all its fields, which follow it.
PageRows::Parsed PageRows::Parse(const unsigned char* record, uint64_t size) {
  const unsigned char* at = record;
  const unsigned char* end = record + size;
  uint64_t header_bytes = 0;
  if (!ReadVarint(at, end, header_bytes) || header_bytes > size) {
    return Parsed::kCut;
  }
  const unsigned char* header_end = record + header_bytes;
  uint64_t field_at = header_bytes;
  size_t field = 0;
  for (; field < stored_fields_ && at < header_end; ++field) {
    uint64_t serial = 0;
    if (!ReadVarint(at, header_end, serial) || serial == kRowId || serial == kRowId + 1) {
      return Parsed::kNo;
    }
    fields_[field] = {serial, record + std::min(field_at, size)};
    const uint64_t bytes = BytesOf(serial);
    if (bytes > kLongestRow) {
      return Parsed::kNo;
    }
    field_at += bytes;
  }
  if (field_at > size) {
    return Parsed::kCut;
  }
  return FillMissing(field) ? Parsed::kYes : Parsed::kNo;
}

// Columns that were added to the table later.
bool PageRows::FillMissing(size_t from) {
  for (size_t field = from; field < stored_fields_; ++field) {
    if (has_default_[field] != 0) {
      return false;
    }
    fields_[field].serial = kNull;
  }
  if (row_id_field_ != kNoColumn) {
    fields_[static_cast<size_t>(row_id_field_)].serial = kRowId;
  }
  return true;
}

bool PageRows::GetInteger(const Field& field, int64_t& value) const {
  const unsigned char* at = field.at;
  switch (field.serial) {
    case 1:
      value = static_cast<int16_t>(at[0] << 8) / 256;
      return true;
    case 2:
      value = static_cast<int16_t>(Get16(at));
      return true;
    case 3:
      value = int64_t{static_cast<int8_t>(at[0])} * 65536 + Get16(at + 1);
      return true;
    case 4:
      value = static_cast<int32_t>(Get32(at));
      return true;
    case 5:
      value = int64_t{static_cast<int16_t>(Get16(at))} * (int64_t{1} << 32) + Get32(at + 2);
      return true;
    case kInteger64:
      value = static_cast<int64_t>(Get64(at));
      return true;
    case kZero:
    case kOne:
      value = static_cast<int64_t>(field.serial - kZero);
      return true;
    case kRowId:
      value = row_id_;
      return true;
    default:
      return false;
  }
}

SqlType PageRows::type(int column) const {
  const Place place = places_[static_cast<size_t>(column)];
  const Field& field = fields_[place.field];
  if (field.serial == kNull) {
    return SqlType::kNull;
  }
  if (field.serial == kReal) {  // a value that is not a number is NULL in SQL
    return std::isnan(RealAt(field.at)) ? SqlType::kNull : SqlType::kReal;
  }
  if (field.serial < kFirstBlob) {
    return place.is_real ? SqlType::kReal : SqlType::kInteger;
  }
  return field.serial % 2 == 0 ? SqlType::kBlob : SqlType::kText;
}

double PageRows::Real(int column) const {
  const Field& field = fields_[places_[static_cast<size_t>(column)].field];
  int64_t integer = 0;
  return GetInteger(field, integer) ? static_cast<double>(integer) : RealAt(field.at);
}

std::string_view PageRows::Bytes(int column) const {
  const Field& field = fields_[places_[static_cast<size_t>(column)].field];
  return field.serial < kFirstBlob
             ? std::string_view()
             : std::string_view(reinterpret_cast<const char*>(field.at), BytesOf(field.serial));
}

}  // namespace borescope::internal
