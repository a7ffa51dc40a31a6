#include "borescope/scrub/scrub_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/sqlite/sqlite_table.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/database.h"
#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/scrub/json/scrub_json.h"
#include "borescope/scrub/scrubber.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// What may stay in the columns of each kind of database. A column without a rule holds numbers.

namespace {

enum class ColumnUse : uint8_t {
  kNumber,    // numbers, also as text
  kText,      // a text
  kTextId,    // the number of a text in the table `texts`
  kMessage,   // JSON, of which the member "message" stays
  kObjectId,  // bytes: process and thread
  kTag,       // a row stays only if the value is one of a few
};

struct ColumnRule {
  std::string_view table;  // empty: any table without a rule of its own
  std::string_view column;
  ColumnUse use = ColumnUse::kNumber;
  TextUse text = TextUse::kWord;
  std::string_view texts = {};  // for kTextId
};

// The table of texts that other tables refer to by number, copied after these.
struct TextTableRule {
  std::string_view table;
  std::string_view id;
  std::string_view text;
};

using enum ColumnUse;

constexpr ColumnRule kNsysRules[] = {
    {"", "nameId", kTextId, TextUse::kCall, "StringIds"},
    {"", "textId", kTextId, TextUse::kCall, "StringIds"},
    {"", "demangledName", kTextId, TextUse::kKernel, "StringIds"},
    {"", "shortName", kTextId, TextUse::kKernel, "StringIds"},
    {"", "symbol", kTextId, TextUse::kFrame, "StringIds"},
    {"", "module", kTextId, TextUse::kModule, "StringIds"},
    {"NVTX_EVENTS", "text", kText, TextUse::kAnnotation},
    {"NVTX_EVENTS", "textId", kTextId, TextUse::kAnnotation, "StringIds"},
    {"ThreadNames", "nameId", kTextId, TextUse::kThread, "StringIds"},
    {"TARGET_INFO_GPU", "name", kText},
    {"META_DATA_EXPORT", "name", kTag},
    {"META_DATA_EXPORT", "value", kText},
};

constexpr ColumnRule kNvprofRules[] = {
    {"", "name", kTextId, TextUse::kKernel, "StringTable"},
    {"CUPTI_ACTIVITY_KIND_MARKER", "name", kTextId, TextUse::kAnnotation, "StringTable"},
    {"CUPTI_ACTIVITY_KIND_MARKER", "domain", kTextId, TextUse::kAnnotation, "StringTable"},
    {"CUPTI_ACTIVITY_KIND_MARKER", "objectId", kObjectId},
    {"CUPTI_ACTIVITY_KIND_DEVICE", "name", kTextId, TextUse::kWord, "StringTable"},
};

constexpr std::string_view kArgumentTable = "rocpd_ustring";  // of files that keep them apart

constexpr ColumnRule kRpdRules[] = {
    {"", "apiName_id", kTextId, TextUse::kCall, "rocpd_string"},
    {"", "category_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "args_id", kTextId, TextUse::kAnnotation, kArgumentTable},
    {"", "domain_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "description_id", kTextId, TextUse::kKernel, "rocpd_string"},
    {"", "opType_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "kernelName_id", kTextId, TextUse::kKernel, "rocpd_string"},
    {"", "name_id", kTextId, TextUse::kFrame, "rocpd_string"},
    {"", "stream", kText, TextUse::kPlace},
    {"", "dst", kText, TextUse::kPlace},
    {"", "src", kText, TextUse::kPlace},
    {"", "deviceType", kText},
    {"", "monitorType", kText},
    {"rocpd_metadata", "tag", kTag},
    {"rocpd_metadata", "value", kText},
};

constexpr ColumnRule kRocpdRules[] = {
    {"", "name_id", kTextId, TextUse::kCall, "rocpd_string"},
    {"", "category_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "extdata", kMessage, TextUse::kAnnotation},
    {"rocpd_info_thread", "name", kText, TextUse::kThread},
    {"rocpd_info_agent", "type", kText},
    {"rocpd_info_agent", "name", kText},
    {"rocpd_info_agent", "product_name", kText},
    {"rocpd_info_kernel_symbol", "display_name", kText, TextUse::kKernel},
    {"rocpd_info_kernel_symbol", "kernel_name", kText, TextUse::kKernel},
    {"rocpd_arg", "name", kText},
    {"rocpd_arg", "value", kText, TextUse::kValue},
    {"rocpd_info_pmc", "name", kText},
    {"rocpd_info_pmc", "symbol", kText},
    {"rocpd_memory_copy", "src_address", kText, TextUse::kPlace},
    {"rocpd_memory_copy", "dst_address", kText, TextUse::kPlace},
    {"rocpd_memory_allocate", "type", kText},
    {"rocpd_memory_allocate", "level", kText},
    {"rocpd_metadata", "tag", kTag},
    {"rocpd_metadata", "value", kText},
};

constexpr TextTableRule kTextTables[] = {
    {"StringIds", "id", "value"},
    {"StringTable", "_id_", "value"},
    {"rocpd_string", "id", "string"},
    {kArgumentTable, "id", "string"},
};

std::span<const ColumnRule> RulesOf(TraceFormat format) {
  switch (format) {
    case TraceFormat::kNsys:
      return kNsysRules;
    case TraceFormat::kNvprof:
      return kNvprofRules;
    case TraceFormat::kRpd:
      return kRpdRules;
    case TraceFormat::kRocpd:
      return kRocpdRules;
    default:
      return {};
  }
}

// The rule of a column; `table` without the suffix of a rocpd database.
ColumnRule RuleOf(TraceFormat format, std::string_view table, std::string_view column) {
  const std::span<const ColumnRule> rules = RulesOf(format);
  const auto find = [&](std::string_view of) {
    return std::find_if(rules.begin(), rules.end(), [&](const ColumnRule& rule) {
      return rule.table == of && rule.column == column;
    });
  };
  auto found = find(table);
  found = found == rules.end() ? find("") : found;
  return found == rules.end() ? ColumnRule{table, column} : *found;
}

// The rule with an empty name for other tables.
TextTableRule TextTableOf(TraceFormat format, std::string_view table) {
  if (RulesOf(format).empty()) {
    return {};
  }
  const auto* found = std::find_if(std::begin(kTextTables), std::end(kTextTables),
                                   [&](const TextTableRule& rule) { return rule.table == table; });
  return found == std::end(kTextTables) ? TextTableRule{} : *found;
}

// Whether a row with this value of a kTag column stays.
bool IsKeptTag(std::string_view tag) {
  constexpr std::string_view kTags[] = {"schema_version",         "compression",
                                        "EXPORT_PRODUCT_VERSION", "NSIGHT_SYSTEMS_VERSION",
                                        "EXPORT_SCHEMA_VERSION",  "copy_ends"};
  return std::find(std::begin(kTags), std::end(kTags), tag) != std::end(kTags);
}

// Tables that are not read, but whose rows are counted.
std::span<const std::string_view> CountedTables() {
  static constexpr std::string_view kTables[] = {"GPU_METRICS",
                                                 "GENERIC_EVENTS",
                                                 "DIAGNOSTIC_EVENT",
                                                 "PROFILER_OVERHEAD",
                                                 "NET_NIC_METRIC",
                                                 "NET_IB_SWITCH_METRIC",
                                                 "PERF_EVENT_SOC",
                                                 "OVERHEAD_EVENTS",
                                                 "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                                 "GPU_CONTEXT_SWITCH",
                                                 "CUPTI_ACTIVITY_KIND_MEMORY"};
  return kTables;
}

constexpr std::string_view kAgentTable = "rocpd_info_agent";
constexpr int64_t kThreadNameType = 39;  // eventType of NVTX_EVENTS

// A table as read, and as it is written.
struct TableCopy {
  std::string source;
  std::string base;   // without the suffix of a rocpd database
  std::string group;  // that suffix
  std::string target;
  std::vector<std::string> columns;
};

// By number of a text: its use; of several uses the one that leaves least.
using TextUses = HashMap<int64_t, TextUse>;

// The smaller, the less of a text stays.
int Rank(TextUse use) {
  switch (use) {
    case TextUse::kThread:
      return 0;
    case TextUse::kAnnotation:
      return 1;
    case TextUse::kKernel:
      return 2;
    default:
      return 3 + static_cast<int>(use);
  }
}

class DatabaseScrub {
 public:
  DatabaseScrub(SqlDatabase& source, SqlDatabase& target, TraceFormat format, Scrubber& scrubber)
      : source_(source), target_(target), format_(format), scrubber_(scrubber) {}

  Result<ScrubbedDatabase> Run(const SqlReads& reads, const DatabaseSchema& schema) {
    BS_TRY(target_.Run("BEGIN"));
    FindSuffixes(reads);
    std::vector<TableCopy> texts;
    for (const auto& [table, columns] : reads) {
      TableCopy copy = CopyOf(table, columns);
      if (copy.columns.empty()) {
        continue;
      }
      if (!TextTableOf(format_, copy.base).table.empty()) {
        texts.push_back(std::move(copy));
      } else {
        BS_TRY(CopyRows(copy));
      }
      ++written_tables_;
    }
    for (const TableCopy& copy : texts) {
      BS_TRY(CopyTexts(copy));
    }
    BS_TRY(CopyCounts(schema));
    BS_TRY(target_.Run("COMMIT"));
    result_.dropped_tables = schema.tables().size() - written_tables_;
    return result_;
  }

 private:
  void FindSuffixes(const SqlReads& reads) {
    for (const auto& [table, columns] : reads) {
      if (format_ == TraceFormat::kRocpd && table.starts_with(kAgentTable)) {
        suffixes_.push_back(table.substr(kAgentTable.size()));
      }
    }
  }

  // The suffix of a rocpd database identifies a run; its order among others stays.
  TableCopy CopyOf(const std::string& table, const std::set<std::string>& columns) const {
    TableCopy copy{table, table, "", table, {}};
    for (size_t i = 0; i < suffixes_.size(); ++i) {
      const std::string& suffix = suffixes_[i];
      if (!suffix.empty() && table.ends_with(suffix)) {
        copy.base = table.substr(0, table.size() - suffix.size());
        copy.group = suffix;
        copy.target =
            fmt::format("{}_{:04}_{}", copy.base, i, scrubber_.Replaced("run", suffix).substr(4));
      }
    }
    std::copy_if(columns.begin(), columns.end(), std::back_inserter(copy.columns),
                 [](const std::string& column) { return !column.empty(); });
    return copy;
  }

  Result<SqlStatement> CreateTable(const TableCopy& copy) {
    std::string columns;
    std::string values;
    for (const std::string& column : copy.columns) {
      columns += (columns.empty() ? "" : ", ") + SqlName(column);
      values += values.empty() ? "?" : ", ?";
    }
    const std::string table = SqlName(copy.target);
    BS_TRY(target_.Run("CREATE TABLE " + table + " (" + columns + ")"));
    return target_.Prepare("INSERT INTO " + table + " VALUES (" + values + ")");
  }

  Result<SqlTable> OpenSource(const TableCopy& copy) {
    const std::vector<std::string_view> names(copy.columns.begin(), copy.columns.end());
    return SqlTable::Open(source_, copy.source, names);
  }

  Result<void> CopyRows(const TableCopy& copy) {
    std::vector<ColumnRule> rules;
    rules.reserve(copy.columns.size());
    for (const std::string& column : copy.columns) {
      rules.push_back(RuleOf(format_, copy.base, column));
    }
    const auto type = std::find(copy.columns.begin(), copy.columns.end(), "eventType");
    const int type_column = copy.base == "NVTX_EVENTS" && type != copy.columns.end()
                                ? static_cast<int>(type - copy.columns.begin())
                                : -1;
    BS_ASSIGN(SqlStatement insert, CreateTable(copy));
    BS_ASSIGN(SqlTable rows, OpenSource(copy));
    for (uint64_t count = 0;; ++count) {
      CheckStopAt(count);
      BS_ASSIGN(const bool is_row, rows.Step());
      if (!is_row) {
        return {};
      }
      int64_t event_type = 0;
      names_thread_ = type_column >= 0 && rows.TryInteger(type_column, event_type) &&
                      event_type == kThreadNameType;
      bool stays = true;
      insert.Reset();
      for (size_t i = 0; i < rules.size(); ++i) {
        BS_ASSIGN(const bool is_kept,
                  BindCell(rows, static_cast<int>(i), rules[i], copy.group, insert));
        stays &= is_kept;
      }
      if (stays) {
        BS_TRY(insert.Run());
        ++result_.rows;
      }
    }
  }

  // False if the row is left out.
  Result<bool> BindCell(const SqlTable& rows, int column, const ColumnRule& rule,
                        const std::string& group, SqlStatement& insert) {
    switch (rule.use) {
      case ColumnUse::kText:
        BindText(rows, column, names_thread_ ? TextUse::kThread : rule.text, insert);
        return true;
      case ColumnUse::kTextId:
        BS_TRY(NoteUse(rows, column, rule, group));
        BindNumber(rows, column, insert);
        return true;
      case ColumnUse::kMessage:
        BindMessage(rows, column, rule.text, insert);
        return true;
      case ColumnUse::kObjectId:
        BindObject(rows, column, insert);
        return true;
      case ColumnUse::kTag:
        insert.Bind(column + 1, rows.Text(column));
        return IsKeptTag(rows.Text(column));
      default:
        BindNumber(rows, column, insert);
        return true;
    }
  }

  static void BindNumber(const SqlTable& rows, int column, SqlStatement& insert) {
    int64_t number = 0;
    const SqlType type = rows.type(column);
    if (rows.TryInteger(column, number)) {
      insert.Bind(column + 1, number);
    } else if (type == SqlType::kReal || type == SqlType::kInteger) {
      insert.Bind(column + 1, rows.Real(column));
    } else if (type == SqlType::kText &&
               (rows.Text(column).empty() || NumberOrNull(rows.Text(column)) != "null")) {
      insert.Bind(column + 1, rows.Text(column));
    } else {
      insert.BindNull(column + 1);
    }
  }

  void BindText(const SqlTable& rows, int column, TextUse use, SqlStatement& insert) {
    if (rows.type(column) == SqlType::kText) {
      insert.Bind(column + 1, scrubber_.Clean(ToValidUtf8(rows.Text(column)), use));
    } else {
      BindNumber(rows, column, insert);
    }
  }

  void BindMessage(const SqlTable& rows, int column, TextUse use, SqlStatement& insert) {
    if (rows.type(column) != SqlType::kText) {
      insert.BindNull(column + 1);
      return;
    }
    const std::string message = RocpdMessage(ToValidUtf8(rows.Text(column)));
    const std::string clean(scrubber_.Clean(message, use));
    insert.Bind(column + 1, message.empty() ? std::string_view("{}")
                                            : "{\"message\":" + JsonString(clean) + "}");
  }

  // Binds the process and the lower half of the thread, which are read.
  static void BindObject(const SqlTable& rows, int column, SqlStatement& insert) {
    constexpr size_t kRead = 8;
    constexpr size_t kSize = 12;
    const std::string_view bytes = rows.Blob(column);
    if (bytes.size() < kSize) {
      insert.BindNull(column + 1);
      return;
    }
    std::string object(bytes.substr(0, kRead));
    object.resize(kSize, '\0');
    insert.Bind(column + 1, std::string_view(object));
  }

  Result<void> NoteUse(const SqlTable& rows, int column, const ColumnRule& rule,
                       const std::string& group) {
    int64_t id = 0;
    if (!rows.TryInteger(column, id)) {
      return {};
    }
    std::string_view texts = rule.texts;
    if (texts == kArgumentTable) {
      BS_ASSIGN(const bool has_own, HasOwnArguments());
      texts = has_own ? texts : "rocpd_string";
    }
    TextUses& uses = uses_[std::string(texts) + group];
    const TextUse use = names_thread_ ? TextUse::kThread : rule.text;
    const auto [place, is_new] = uses.try_emplace(id, use);
    if (!is_new && Rank(use) < Rank(place->second)) {
      place->second = use;
    }
    return {};
  }

  Result<bool> HasOwnArguments() {
    if (!has_own_arguments_.has_value()) {
      BS_ASSIGN(const std::vector<std::string> columns, source_.Columns(kArgumentTable));
      has_own_arguments_ = !columns.empty();
    }
    return *has_own_arguments_;
  }

  Result<void> CopyTexts(const TableCopy& copy) {
    const TextTableRule rule = TextTableOf(format_, copy.base);
    const TableCopy plain{copy.source,
                          copy.base,
                          copy.group,
                          copy.target,
                          {std::string(rule.id), std::string(rule.text)}};
    BS_ASSIGN(SqlStatement insert, CreateTable(plain));
    BS_ASSIGN(SqlTable rows, OpenSource(plain));
    const TextUses& uses = uses_[copy.base + copy.group];
    for (uint64_t count = 0;; ++count) {
      CheckStopAt(count);
      BS_ASSIGN(const bool is_row, rows.Step());
      if (!is_row) {
        return {};
      }
      int64_t id = 0;
      const auto use = rows.TryInteger(0, id) ? uses.find(id) : uses.end();
      if (use == uses.end()) {
        ++result_.dropped_texts;
        continue;
      }
      insert.Reset();
      insert.Bind(1, id);
      BindText(rows, 1, use->second, insert);
      BS_TRY(insert.Run());
      ++result_.rows;
    }
  }

  // Writes empty rows for tables whose rows are counted.
  Result<void> CopyCounts(const DatabaseSchema& schema) {
    for (const std::string_view table : CountedTables()) {
      if (format_ != TraceFormat::kNsys || !schema.Has(table, "start")) {
        continue;
      }
      const TableCopy copy{
          std::string(table), std::string(table), "", std::string(table), {"start"}};
      BS_ASSIGN(SqlStatement insert, CreateTable(copy));
      BS_ASSIGN(SqlTable rows, OpenSource(copy));
      ++written_tables_;
      for (uint64_t count = 0;; ++count) {
        CheckStopAt(count);
        BS_ASSIGN(const bool is_row, rows.Step());
        if (!is_row) {
          break;
        }
        insert.Reset();
        insert.BindNull(1);
        BS_TRY(insert.Run());
      }
    }
    return {};
  }

  SqlDatabase& source_;
  SqlDatabase& target_;
  const TraceFormat format_;
  Scrubber& scrubber_;
  std::vector<std::string> suffixes_;
  std::map<std::string, TextUses> uses_;  // by table of texts
  std::optional<bool> has_own_arguments_;
  bool names_thread_ = false;  // the current row
  size_t written_tables_ = 0;
  ScrubbedDatabase result_;
};

}  // namespace

Result<ScrubbedDatabase> ScrubDatabase(SqlDatabase& source, const std::string& path,
                                       Scrubber& scrubber) {
  SqlReads reads;
  source.NoteReads(&reads);
  const Result<Trace> trace = LoadDatabase(source, source.bytes().size(), {});
  source.NoteReads(nullptr);
  if (!trace.ok()) {
    return trace.error();
  }
  BS_ASSIGN(const DatabaseSchema schema, DatabaseSchema::Read(source));
  BS_ASSIGN(SqlDatabase target, SqlDatabase::Create(path));
  return DatabaseScrub(source, target, trace->meta().format, scrubber).Run(reads, schema);
}

}  // namespace borescope::internal
