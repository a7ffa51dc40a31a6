#include "borescope/ingest/memory_timeline.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "borescope/ingest/time_limit.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/number.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {
namespace {

// Four numbers are far shorter, even with white space between them.
constexpr size_t kLongestEntry = 4096;

// Action of torch.profiler._memory_profiler, numbered from 1.
constexpr std::array<std::string_view, 5> kActions = {"unknown", "preexisting", "create",
                                                      "increment version", "destroy"};

// [time, action, bytes, category]
using Entry = std::array<ParsedNumber, 4>;

bool IsUsable(const ParsedNumber& number) {
  return number.status == NumberStatus::kOk || number.status == NumberStatus::kOverflow;
}

// `text` is the text between the brackets.
std::optional<Entry> ParseEntry(std::string_view text) {
  Entry entry;
  for (size_t i = 0; i < entry.size(); ++i) {
    const size_t comma = text.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == entry.size())) {
      return std::nullopt;
    }
    entry[i] = ParseInteger(Trimmed(text.substr(0, comma)));
    if (!IsUsable(entry[i])) {
      return std::nullopt;
    }
    text.remove_prefix(std::min(comma, text.size() - 1) + 1);
  }
  return entry;
}

class TimelineReader {
 public:
  TimelineReader(TextReader& reader, const std::string& name) : reader_(reader), name_(name) {}

  // Reads everything into part().
  Result<void> Read();
  TracePart TakePart() { return std::move(part_); }

 private:
  Result<void> ReadEntries();
  Result<void> ReadEntry();
  void Add(const Entry& entry);
  MemoryCategory CategoryOf(int64_t number);
  void Count(Diag diag, std::string_view first = {}) {
    part_.data.diagnostics.Count(diag, reader_.byte(), first);
  }
  Error BadEntry() const;

  TextReader& reader_;
  const std::string& name_;
  TracePart part_;
};

Error TimelineReader::BadEntry() const {
  if (part_.data.memory.size() == 0) {
    return {.code = ErrorCode::kUnsupportedFormat,
            .cause =
                "this is a JSON list of lists, but not of [time, action, bytes, category] as in a "
                "raw memory timeline",
            .remedy = "export_memory_timeline writes one to a file named .raw.json.gz",
            .file = name_,
            .offset = 0};
  }
  return {.code = ErrorCode::kCorrupt,
          .cause =
              "no entry [time, action, bytes, category] of a memory timeline, and all totals "
              "after it would be wrong",
          .remedy = "export it again",
          .file = name_,
          .offset = reader_.byte()};
}

MemoryCategory TimelineReader::CategoryOf(int64_t number) {
  if (number < 0 || number > static_cast<int64_t>(MemoryCategory::kUnknown)) {
    Count(Diag::kBadFieldType, "category " + std::to_string(number));
    return MemoryCategory::kUnknown;
  }
  return static_cast<MemoryCategory>(number);
}

void TimelineReader::Add(const Entry& entry) {
  const auto& [time, action, bytes, category] = entry;
  if (std::any_of(entry.begin(), entry.end(),
                  [](const ParsedNumber& n) { return n.status == NumberStatus::kOverflow; }) ||
      time.value > kTimeLimitNs) {
    Count(Diag::kIntegerOverflow);
  }
  const bool is_known = action.value > 0 && action.value < static_cast<int64_t>(kActions.size());
  if (!is_known) {
    Count(Diag::kBadFieldType, "action " + std::to_string(action.value));
  }
  part_.CountEvent('i', part_.Intern(kActions[static_cast<size_t>(is_known ? action.value : 0)]),
                   0);
  MemoryEvents& memory = part_.data.memory;
  memory.ts_ns.push_back(time.value < 0 ? kMissing : std::min(time.value, kTimeLimitNs));
  memory.track.push_back(part_.Track(TrackKind::kHost, 0, 0));
  memory.device_type.push_back(-1);
  memory.device.push_back(-1);
  memory.address.push_back(0);
  memory.bytes.push_back(bytes.value);
  memory.category.push_back(CategoryOf(category.value));
  memory.total_allocated.push_back(kMissing);
  memory.total_reserved.push_back(kMissing);
}

// Positioned on the opening bracket of an entry.
Result<void> TimelineReader::ReadEntry() {
  size_t end = reader_.window().find(']');
  while (end == std::string_view::npos && reader_.window().size() < kLongestEntry &&
         reader_.Fill()) {
    end = reader_.window().find(']');
  }
  if (end == std::string_view::npos && reader_.window().size() < kLongestEntry) {
    Count(Diag::kTruncatedFile, "the text ends inside an entry");
    reader_.Consume(reader_.window().size());
    return {};
  }
  const std::optional<Entry> entry =
      end > kLongestEntry ? std::nullopt : ParseEntry(reader_.window().substr(1, end - 1));
  if (!entry.has_value()) {
    return BadEntry();
  }
  Add(*entry);
  reader_.Consume(end + 1);
  return {};
}

// Positioned after the opening bracket of the list.
Result<void> TimelineReader::ReadEntries() {
  bool after_entry = false;
  for (char c = reader_.SkipSpace(); c != ']'; c = reader_.SkipSpace()) {
    if (c == 0) {
      if (part_.data.diagnostics.count(Diag::kTruncatedFile) == 0) {
        Count(Diag::kTruncatedFile, "the text ends before the bracket that closes the list");
      }
      return {};
    }
    if ((c == ',') != after_entry) {
      Count(Diag::kBadSyntax, c == ',' ? "a comma too many" : "a missing comma");
    }
    if (c == ',') {
      reader_.Consume(1);
    } else if (c == '[') {
      BS_TRY(ReadEntry());
    } else {
      return BadEntry();
    }
    after_entry = c == '[';
  }
  reader_.Consume(1);
  if (reader_.SkipSpace() != 0) {
    Count(Diag::kTrailingData);
  }
  return {};
}

Result<void> TimelineReader::Read() {
  reader_.SkipSpace();
  reader_.Consume(1);
  return ReadEntries();
}

}  // namespace

bool MayBeMemoryTimeline(std::string_view text) {
  const size_t list = FindNonSpace(text);
  const size_t entry = FindNonSpace(text, list + 1);
  return entry < text.size() && text[list] == '[' && text[entry] == '[';
}

Result<Trace> LoadMemoryTimeline(TextReader& reader, const std::string& name,
                                 const LoadOptions& options) {
  TimelineReader timeline(reader, name);
  BS_TRY(timeline.Read());
  if (reader.error().has_value()) {
    return InFile(name, *reader.error());
  }
  TracePart part = timeline.TakePart();
  if (part.data.memory.size() == 0) {
    return Error{.code = ErrorCode::kCorrupt,
                 .cause = "the text ends before the first entry of this memory timeline",
                 .remedy = "copy the file again",
                 .file = name,
                 .offset = reader.byte()};
  }
  if (!reader.damage().empty()) {
    part.data.diagnostics.Count(Diag::kTruncatedGzip, reader.byte(), reader.damage());
  }
  Meta meta;
  meta.file = name;
  meta.format = TraceFormat::kMemoryTimeline;
  meta.producer = "PyTorch memory timeline";
  meta.base_ns = 0;  // times are Unix time
  meta.options.profile_memory = true;
  meta.text_is_object = false;
  meta.text_bytes = reader.byte();
  meta.file_bytes = reader.stored_bytes();
  TraceBuilder builder;
  builder.Append(std::move(part));
  return builder.Finish(std::move(meta), 0, options.threads);
}

}  // namespace borescope::internal
