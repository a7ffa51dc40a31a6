// The view api: calls, what the tracer spent on itself, and the ranges of the program, which are
// calls of the name UserMarker there, with their text as arguments.
#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/stop.h"
#include "borescope/packs/rpd/tables.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kMarker = "UserMarker";

bool IsMarker(HostKind kind) { return kind == HostKind::kAnnotation || kind == HostKind::kOp; }

bool IsCall(const RankView& view, uint32_t row) {
  const HostKind kind = view.trace.host().kind[row];
  return kind == HostKind::kRuntime ||
         (kind == HostKind::kOther && view.trace.host().detail[row] != kNoDetail);
}

// By start; at one time in the order of the threads.
std::vector<HostId> ApiRows(const RankView& view) {
  const HostEvents& host = view.trace.host();
  std::vector<HostId> rows;
  for (uint32_t row = 0; row < host.size(); ++row) {
    CheckStopAt(row);
    if (IsCall(view, row) || IsMarker(host.kind[row])) {
      rows.push_back(HostId{row});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [&](HostId a, HostId b) { return host.ts_ns[a.value] < host.ts_ns[b.value]; });
  return rows;
}

void PushCall(Row& row, const RankView& view, HostId id) {
  const uint32_t detail = view.trace.host().detail[id.value];
  const RuntimeCalls& calls = view.trace.runtime_calls();
  const bool is_known = detail != kNoDetail;
  row.Text(is_known ? view.trace.Text(calls.domain[detail]) : std::string_view());
  row.Text(view.trace.Name(id));
  row.Text(is_known ? view.trace.Text(calls.args[detail]) : std::string_view());
}

}  // namespace

Result<Tables> MapRpdCalls(const RankView& view, const Params&) {
  Table table{"api", "Calls on the host (as rocmProfileData)", {}, 20};
  AddRankKey(table);
  AddRpdInts(table, {"id", "pid", "tid", "start", "end"});
  AddString(table, "domain", Role::kDerived, "As in the view of schema 3; empty in older files.");
  AddString(table, "apiName", Role::kDerived, "The call.");
  AddString(table, "args", Role::kDerived, "Arguments as recorded.");
  const HostEvents& host = view.trace.host();
  const Tracks& tracks = view.trace.tracks();
  for (const HostId id : ApiRows(view)) {
    const uint32_t thread = host.track[id.value].value;
    const uint32_t detail = host.detail[id.value];
    const bool is_call = !IsMarker(host.kind[id.value]);
    Row row(table);
    row.Int(view.rank);
    row.MaybeInt(is_call && detail != kNoDetail ? view.trace.runtime_calls().correlation[detail]
                                                : kMissing);
    row.Int(tracks.pid[thread]).Int(tracks.tid[thread]);
    row.Int(host.ts_ns[id.value]).Int(host.end_ns(id));
    if (is_call) {
      PushCall(row, view, id);
    } else {
      row.Text(kMarker).Text(kMarker).Text(view.trace.Name(id));
    }
  }
  return Tables{std::move(table)};
}

}  // namespace borescope::internal
