// Call stacks that were recorded with calls: rows by call and depth, 0 being the innermost frame.
#include <algorithm>

#include "borescope/base/sort_runs.h"
#include "borescope/ingest/rpd/rpd_tables.h"
#include "borescope/trace/event_rows.h"

namespace borescope::internal {
namespace {

struct Frame {
  uint32_t call;  // host row
  int64_t depth;
  StringId name;
};

// A frame is known only while its call runs.
void AddFrame(TracePart& part, const Frame& frame, StringId category) {
  HostEvents& host = part.data.host;
  AddHostRow(host, {.ts_ns = host.ts_ns[frame.call],
                    .dur_ns = host.dur_ns[frame.call],
                    .name = frame.name,
                    .track = host.track[frame.call],
                    .kind = HostKind::kPython});
  part.CountEvent('X', category, host.dur_ns.back());
}

}  // namespace

// Of equal times and kinds the first row is the outer one.
Result<void> ReadRpdStacks(RpdTables& tables) {
  if (!tables.schema.Has("rocpd_stackframe")) {
    return {};
  }
  enum Column : uint8_t { kCall, kDepth, kName };
  constexpr std::string_view kColumns[] = {"api_ptr_id", "depth", "name_id"};
  BS_ASSIGN(TableRows rows, tables.Open("rocpd_stackframe", kColumns));
  std::vector<Frame> frames;
  BS_TRY(rows.ForEach([&] {
    const int64_t id = rows.Integer(kCall);
    const uint32_t call = id == kMissing ? RowIds::kNone : tables.calls.Find(id);
    if (call == RowIds::kNone) {
      tables.diagnostics().Count(Diag::kDanglingReference, Diagnostics::kNoByte,
                                 "rocpd_stackframe.api_ptr_id");
      return;
    }
    frames.push_back({call, rows.Integer(kDepth), tables.String(rows.Integer(kName))});
  }));
  SortRuns(std::span(frames), [](const Frame& a, const Frame& b) {
    return a.call != b.call ? a.call < b.call : a.depth > b.depth;
  });
  const StringId category = tables.part.Intern("stackframe");
  for (const Frame& frame : frames) {
    AddFrame(tables.part, frame, category);
  }
  return {};
}

}  // namespace borescope::internal
