// What the main thread of a rank does of which no device work was recorded: what there is to say
// about a recording of the host alone.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/evidence.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/analysis/verbs/summary/verdict.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

bool HasDeviceWork(const Trace& trace) {
  const auto& kinds = trace.device().kind;
  return std::any_of(kinds.begin(), kinds.end(), IsDeviceWork);
}

// Divides the time of one thread.
class ThreadUse {
 public:
  ThreadUse(const RankView& view, const Selected& selected)
      : view_(view), windows_(selected.windows()) {
    facts_.marks.assign(view.trace.host().all_size(), 0);
    facts_.is_loading = FindDataLoading(view.trace);
  }

  HostUseRow Of(ThreadFacts thread) {
    row_ = {.rank = view_.rank, .span_ns = Coverage(windows_)};
    SweepThread(
        view_.trace, facts_, thread, [this](const ThreadPiece& piece) { Add(piece); },
        [](HostId, bool, int64_t) {});
    const int64_t known_ns = AddSaturating(AddSaturating(row_.data_ns, row_.operators_ns),
                                           AddSaturating(row_.calls_ns, row_.others_ns));
    row_.nothing_ns = SubtractSaturating(row_.span_ns, known_ns);
    return row_;
  }

 private:
  void Add(const ThreadPiece& piece) {
    if (!piece.innermost.valid()) {
      return;
    }
    const int64_t ns = Coverage(Clip(windows_, {piece.begin_ns, piece.end_ns}));
    const HostEvents& host = view_.trace.host();
    HostId op = piece.innermost;
    while (op.valid() && host.kind[op.value] != HostKind::kOp) {
      op = view_.index.tree.parent[op.value];
    }
    const HostKind innermost = host.kind[piece.innermost.value];
    const bool is_call = innermost != HostKind::kAnnotation && innermost != HostKind::kPython;
    AddSaturatingTo(piece.is_loading ? row_.data_ns
                    : op.valid()     ? row_.operators_ns
                    : is_call        ? row_.calls_ns
                                     : row_.others_ns,
                    ns);
  }

  const RankView& view_;
  const IntervalSet& windows_;
  HostFacts facts_;
  HostUseRow row_;
};

// ", most in aten::mm (50.0 ms)"; nothing where no operators were recorded, or other threads run
// them.
std::string MostlyInOperator(const SummaryTables& tables, int64_t operators_ns) {
  const int64_t own_ns = tables.ops.rows() == 0 ? 0 : Ints(tables.ops, "self_host_ns")[0];
  return own_ns <= 0 || own_ns > operators_ns
             ? ""
             : fmt::format(", most in {} ({})", Shorten(Texts(tables.ops, "name")[0]),
                           FormatTime(own_ns));
}

std::optional<Finding> HostTimeWithoutDevices(const SummaryTables& tables) {
  const int64_t span_ns = SumOf(tables.host_use, &HostUseRow::span_ns);
  if (span_ns <= 0 || SumOf(tables.overview, &OverviewRow::device_events) > 0) {
    return std::nullopt;
  }
  const int64_t data_ns = SumOf(tables.host_use, &HostUseRow::data_ns);
  const int64_t operators_ns = SumOf(tables.host_use, &HostUseRow::operators_ns);
  const bool is_data = ShareOf(data_ns, span_ns) >= kIdleWord;
  const double share = ShareOf(is_data ? data_ns : operators_ns, span_ns);
  return Finding{
      is_data ? "The host spends time on loading data" : "Where the time of the host goes",
      is_data ? SeverityOfShare(share) : "info",
      fmt::format("main thread: loading data {}; in operators {}{}; in other calls {}, in ranges "
                  "and frames {}, nothing recorded {}",
                  PartOf(data_ns, span_ns), PartOf(operators_ns, span_ns),
                  MostlyInOperator(tables, operators_ns),
                  FormatTime(SumOf(tables.host_use, &HostUseRow::calls_ns)),
                  FormatTime(SumOf(tables.host_use, &HostUseRow::others_ns)),
                  FormatTime(SumOf(tables.host_use, &HostUseRow::nothing_ns))),
      share,
      "share",
      (is_data
           ? AdviceFor(tables,
                       "More DataLoader workers, prefetch_factor and persistent_workers=True; move "
                       "preprocessing off the step. `borescope annotations` shows how long loading "
                       "takes.",
                       "Read and prepare the next data on other threads meanwhile. `borescope "
                       "annotations` shows how long loading takes.")
           : std::string("`borescope ops` lists the operators by their own time, `borescope "
                         "annotations` the ranges.")),
      is_data ? data_ns : 0};
}

constexpr Rule kHostRules[] = {HostTimeWithoutDevices};

}  // namespace

Table HostUseTable(const RankView& view, const Selected& selected) {
  std::vector<HostUseRow> rows;
  if (HasDeviceWork(view.trace)) {
    return MakeTable(rows);
  }
  ThreadUse use(view, selected);
  for (const ThreadFacts& thread : FindThreads(view)) {
    if (!thread.is_main) {
      continue;
    }
    const HostUseRow row = use.Of(thread);
    if (rows.empty()) {
      rows.push_back(row);
    } else if (row.nothing_ns < rows.front().nothing_ns) {
      rows.front() = row;
    }
  }
  return MakeTable(rows);
}

std::span<const Rule> HostRules() { return kHostRules; }

}  // namespace borescope::internal
