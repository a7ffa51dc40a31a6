// Answer: the tables of one question, and how far they can be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/diagnostic.h"
#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/output.h"
#include "borescope/table.h"

namespace borescope {

// A copy of a trace, written for the parameter `overlay`.
struct OverlayInfo {
  std::string path;
  size_t counters = 0;
  size_t tracks = 0;
  size_t arrows = 0;
  size_t marked = 0;          // recorded events
  bool keeps_damage = false;  // what was repaired while reading is as it was in the copy
};

// What the cache (OpenOptions::cache) had to do with a file.
enum class CacheUse : uint8_t {
  kNone,   // there is none, or it is not for this kind of input
  kFound,  // the indexed trace comes from there
  kKept,   // it was loaded, and is in the cache now
  kFailed  // it was loaded, and could not be kept, or what was kept could not be used
};

// One input file of the run.
struct FileInfo {
  std::string path;
  int64_t rank = 0;
  uint64_t file_bytes = 0;  // as stored
  uint64_t text_bytes = 0;  // inflated
  uint64_t events = 0;
  int64_t begin_ns = 0;  // when the recording begins, on its clock
  bool skipped = false;  // found in a folder, and not a trace
  std::string error;     // why it could not be loaded; empty if it was
  int64_t load_ns = 0;   // how long each part took
  int64_t index_ns = 0;
  int64_t analysis_ns = 0;
  std::optional<OverlayInfo> overlay = {};
  std::string saved = {};  // the file that the parameter `save` wrote; empty for none
  CacheUse cache = CacheUse::kNone;
  std::string cache_failure = {};  // of CacheUse::kFailed
};

struct RenderOptions {
  int width = 80;       // text: cells a line
  bool colour = false;  // text: escape sequences
  // csv: control characters in texts become U+FFFD, so that a terminal does not obey them.
  bool printable = false;
  // csv: a ' before texts that a spreadsheet would take for a formula (=, +, -, @, tab, CR).
  bool guard_formulas = false;
};

// A table of texts, for Answer::OfTexts. Its columns have equally many cells.
struct ListedColumn {
  std::string name;
  std::string doc;
  bool is_key = false;
  std::vector<std::string> cells;
};
struct ListedTable {
  std::string name;
  std::string title;
  std::vector<ListedColumn> columns;
};

// Immutable and cheap to copy; safe to read from any number of threads.
class BORESCOPE_EXPORT Answer {
 public:
  // Tables of texts, for front ends that list what they have.
  static Answer OfTexts(std::span<const ListedTable> tables);

  std::vector<Table> tables() const;
  // The table of this name; false when there is none.
  bool Find(std::string_view name, Table* table) const;
  // An answer with the table of this name alone, or with some of its rows: `count` from `begin` on,
  // fewer where it ends before. Diagnostics, files and how it is drawn stay. An answer without
  // tables where there is none of that name.
  Answer Only(std::string_view name, size_t begin = 0,
              size_t count = std::numeric_limits<size_t>::max()) const;
  const std::vector<Diagnostic>& diagnostics() const;
  const std::vector<FileInfo>& files() const;

  // The answer in a format of Describe().writers ("text", "csv", "json", ...): the bytes that the
  // command line prints. kInvalidArgument for an unknown format, kMissingData where a picture has
  // nothing to show.
  Result<std::string> Render(std::string_view format, const RenderOptions& options = {}) const;

  // The same bytes, in pieces to a function, or to a file. A format whose files hold one table each
  // has several tables in PATH.TABLE.EXTENSION ("out.csv": "out.kernels.csv"). Each file appears
  // complete or not at all. Returns OutputPaths.
  Result<std::vector<std::string>> Write(std::string_view format, const Output& output,
                                         const RenderOptions& options = {}) const;
  // The files that Write writes for the output `path`; none for an unknown format.
  std::vector<std::string> OutputPaths(std::string_view format, const std::string& path) const;
  // Whether the diagnostics are in what Write makes; where not, RenderDiagnostics shows them.
  bool CarriesDiagnostics(std::string_view format) const;

  // Reads what Render("json") wrote, of this version or an older one (docs/formats/table-json.md):
  // tables and diagnostics, without files() and pictures. Whatever the text is, the result is an
  // answer or an error: kUnsupportedFormat for other JSON and for a newer schema, kCorrupt with the
  // byte for damage.
  static Result<Answer> ParseJson(std::string_view json);

 private:
  friend struct AnswerAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

// What the diagnostics say, as text for people; empty where there is nothing to say.
BORESCOPE_EXPORT std::string RenderDiagnostics(std::span<const Diagnostic> diagnostics,
                                               const RenderOptions& options = {});

}  // namespace borescope
