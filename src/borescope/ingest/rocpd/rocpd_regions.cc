#include "borescope/ingest/cupti/nvtx_text.h"
#include "borescope/ingest/rocpd/rocpd_tables.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/event_rows.h"

namespace borescope::internal {
namespace {

enum Column : uint8_t { kProcess, kThread, kStart, kEnd, kName, kEvent, kExtra };
constexpr std::string_view kColumns[] = {"pid",     "tid",      "start",  "end",
                                         "name_id", "event_id", "extdata"};

// Ranges between roctxRangeStart and roctxRangeStop, which may overlap and cross threads.
bool IsStartStop(std::string_view name) {
  return name == "roctxProcessRangeA" || name == "roctxRangeStartA";
}

class RegionReader {
 public:
  explicit RegionReader(RocpdTables& tables) : tables_(tables) {}

  void Add(const TableRows& rows);

 private:
  StringId MarkerName(const TableRows& rows, uint32_t event, StringId name);
  uint32_t AddCall(const TableRows& rows, uint32_t event);

  RocpdTables& tables_;
};

StringId RegionReader::MarkerName(const TableRows& rows, uint32_t event, StringId name) {
  const std::string message = RocpdMessage(rows.Text(kExtra));
  if (!message.empty()) {
    return tables_.part.Intern(message);
  }
  const StringId of_event = tables_.events.message[event];
  return of_event == StringId{0} ? name : of_event;
}

uint32_t RegionReader::AddCall(const TableRows& rows, uint32_t event) {
  const bool has_event = event != RowIds::kNone;
  const uint32_t arguments = tables_.arguments.events.Find(rows.Integer(kEvent));
  RuntimeCalls& calls = tables_.part.data.runtime_calls;
  const uint32_t row = AddMissingRow(calls);
  calls.correlation[row] =
      tables_.Unique(rows.Integer(kProcess), has_event ? tables_.events.link[event] : kMissing);
  calls.domain[row] = has_event ? tables_.events.category[event] : StringId{0};
  calls.args[row] = arguments == RowIds::kNone ? StringId{0} : tables_.arguments.text[arguments];
  return row;
}

void RegionReader::Add(const TableRows& rows) {
  TracePart& part = tables_.part;
  StringId name = tables_.String(rows.Integer(kName));
  const uint32_t event = tables_.events.ids.Find(rows.Integer(kEvent));
  const StringId category = event == RowIds::kNone ? StringId{0} : tables_.events.category[event];
  const RowTime time = rows.Time(kStart, kEnd, part.data.strings.Get(name));
  part.CountEvent('X', category, time.dur_ns);
  if (!time.has_start) {
    return;
  }
  const bool is_marker = part.data.strings.Get(category).find("MARKER") != std::string_view::npos;
  const bool is_async = is_marker && IsStartStop(part.data.strings.Get(name));
  name = is_marker ? MarkerName(rows, event, name) : name;
  HostRow row{.ts_ns = time.ts_ns, .dur_ns = time.dur_ns, .name = name};
  row.track = tables_.ThreadOf(rows.Integer(kProcess), rows.Integer(kThread), is_async);
  const std::optional<OperatorText> op =
      is_marker && !is_async ? ParseOperatorText(part.data.strings.Get(name)) : std::nullopt;
  if (op.has_value()) {
    row.name = part.Intern(op->name);
    row.kind = HostKind::kOp;
    row.detail = AddOperator(part, *op);
  } else if (is_marker) {
    row.kind = HostKind::kAnnotation;
  } else {
    row.kind = HostKind::kRuntime;
    row.detail = AddCall(rows, event);
  }
  AddHostRow(part.data.host, row);
}

}  // namespace

Result<void> ReadRocpdRegions(RocpdTables& tables) {
  RegionReader reader(tables);
  return tables.ForEach("region", kColumns, [&](const TableRows& rows) { reader.Add(rows); });
}

}  // namespace borescope::internal
