// Answer: the tables of one question, and how far they can be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/error.h"
#include "borescope/export.h"
#include "borescope/table.h"

namespace borescope {

enum class Severity : uint8_t { kInfo, kWarning, kError };

// One kind of irregularity of one input: what was repaired, dropped or could not be linked.
struct Diagnostic {
  std::string code;  // "unlinked-device-event"
  Severity severity = Severity::kInfo;
  uint64_t count = 0;
  std::string file;   // as it was named
  std::string first;  // place and description of the first case; may be empty
  std::string help;   // what it means and what to do
};

// One input file of the run.
struct FileInfo {
  std::string path;
  int64_t rank = 0;
  uint64_t file_bytes = 0;  // as stored
  uint64_t text_bytes = 0;  // inflated
  uint64_t events = 0;
  bool skipped = false;  // found in a folder, and not a trace
  std::string error;     // why it could not be loaded; empty if it was
};

struct RenderOptions {
  int width = 80;       // text: cells a line
  bool colour = false;  // text: escape sequences
};

// Immutable and cheap to copy; safe to read from any number of threads.
class BORESCOPE_EXPORT Answer {
 public:
  std::vector<Table> tables() const;
  // The table of this name; false when there is none.
  bool Find(std::string_view name, Table* table) const;
  const std::vector<Diagnostic>& diagnostics() const;
  const std::vector<FileInfo>& files() const;

  // The answer in a format of Describe().writers ("text", "csv", "json", ...): the bytes that the
  // command line prints. kInvalidArgument for an unknown format, kMissingData where a picture has
  // nothing to show.
  Result<std::string> Render(std::string_view format, const RenderOptions& options = {}) const;

 private:
  friend struct AnswerAccess;
  struct Data;
  std::shared_ptr<const Data> data_;
};

}  // namespace borescope
