// The rows of a table of an SQLite database directly from its pages, at a fraction of the cost of
// SQLite's virtual machine (decision 0012; https://www.sqlite.org/fileformat2.html). Reads only
// plain tables: those with row ids and text in UTF-8. Everything else in the file, including
// damaged parts, is left to SQLite.
//
// Safe on hostile bytes: nothing outside a page is read, and no more pages than the file has.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/sqlite/sqlite.h"

namespace borescope::internal {

// How the rows of one table are stored.
struct StoredTable {
  struct Column {
    std::string name;
    bool is_row_id = false;    // INTEGER PRIMARY KEY: not in the row itself
    bool is_real = false;      // integers in it represent real numbers
    bool has_default = false;  // a row that was written before the column was added has another
                               // value than NULL
  };
  uint32_t root_page = 0;
  std::vector<Column> columns;  // all, in the order of the row format
};

enum class PageStep : uint8_t {
  kRow,
  kEnd,
  kUnknown,  // a row that SQLite has to read, if it can
  kLooped,   // pages that form a cycle
  kGone,     // the file was cut since it was opened, or reading it failed
};

class PageRows {
 public:
  // NULL for a column that the table does not have.
  static constexpr int kNoColumn = -1;

  // Whether tables of this file may be plain.
  static bool CanRead(const StoredBytes& file);

  // `columns`: which columns to read, by position in the table. The file must outlive the rows.
  // REQUIRES: CanRead(file)
  PageRows(const StoredBytes& file, const StoredTable& table, std::span<const int> columns);

  // Moves to the next row, by row id. Must not be called again after a result other than kRow.
  PageStep Next();

  // After kGone: the error of the system, a number of errno; 0 where the file was cut.
  int read_error() const { return read_error_; }

  // For the current row; `column` is an index into those of the constructor.
  SqlType type(int column) const;
  // Sets `value` and returns true if an integer is stored.
  bool TryInteger(int column, int64_t& value) const {
    const Place place = places_[static_cast<size_t>(column)];
    return !place.is_real && GetInteger(fields_[place.field], value);
  }
  // REQUIRES: type kInteger or kReal
  double Real(int column) const;
  // For a text or blob; empty for other types. Valid until Next.
  std::string_view Bytes(int column) const;

 private:
  // A value as stored: its serial type and its position.
  struct Field {
    uint64_t serial = 0;
    const unsigned char* at = nullptr;
  };
  struct Place {
    uint32_t field;
    bool is_real;
  };
  // A page on the path from the root to the current row.
  struct Level {
    const unsigned char* page = nullptr;
    uint32_t cell = 0;  // the next
    uint32_t cells = 0;
    std::vector<unsigned char> buffer;  // the page, if the file is not in memory
  };
  struct Payload {
    const unsigned char* begin;
    uint64_t size;    // of which this many bytes
    uint64_t stored;  // are on the page
  };
  enum class Parsed : uint8_t { kYes, kCut, kNo };

  bool GetInteger(const Field& field, int64_t& value) const;
  PageStep Enter(uint32_t page_number);
  PageStep Descend();
  PageStep ReadCell(const unsigned char* page, uint32_t at);
  PageStep ReadRecord(const Payload& payload);
  PageStep CollectTail(const Payload& payload);
  Parsed Parse(const unsigned char* record, uint64_t size);
  bool FillMissing(size_t from);
  bool HasPage(uint32_t number) const;
  const unsigned char* PageAt(uint32_t number, std::vector<unsigned char>& buffer) const;

  const StoredBytes* file_;
  uint32_t page_bytes_ = 0;
  uint32_t usable_bytes_ = 0;  // of a page, without the bytes reserved for extensions
  uint64_t page_count_ = 0;
  uint64_t pages_left_ = 0;       // that may be read
  uint64_t tail_pages_left_ = 0;  // the same for the tails of long rows
  uint32_t root_page_ = 0;
  int read_error_ = 0;

  // As deep as SQLite itself goes.
  static constexpr size_t kMostLevels = 20;
  std::array<Level, kMostLevels> levels_;
  size_t depth_ = 0;
  bool is_started_ = false;

  size_t stored_fields_ = 0;   // how many columns of a row are parsed
  std::vector<Field> fields_;  // those, and one that is always NULL
  std::vector<char> has_default_;
  int row_id_field_ = kNoColumn;
  std::vector<Place> places_;  // by requested column
  int64_t row_id_ = 0;
  std::string record_;  // a row with its overflow pages, reassembled
  std::vector<unsigned char> tail_buffer_;
};

}  // namespace borescope::internal
