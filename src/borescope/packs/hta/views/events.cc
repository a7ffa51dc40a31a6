// HTA's Trace.get_trace: the frames of all ranks, aligned to the first start of any rank, and
// without the last step. Both need all ranks, and are therefore done in `finish`.
#include <algorithm>
#include <map>
#include <vector>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/packs/hta/hta.h"
#include "borescope/packs/hta/recorded/recorded_frame.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

// Without this limit, a file with a single correlation number could make more rows than fit into
// memory.
constexpr int64_t kMostRepeats = 16;

Table NewRankTable() {
  Table table{"event_ranks", "Frames by rank (as HolisticTraceAnalysis)", {}};
  AddRankKey(table);
  AddString(table, "device_type", Role::kDerived, "HTA's word for the kind of device.");
  AddInt(table, "parsed", Unit::kCount, Role::kSum, "Events of the file that HTA keeps.");
  AddInt(table, "rows", Unit::kCount, Role::kSum, "Of these, rows of `events`.");
  AddFloat(table, "origin_us", Unit::kMicroseconds, Role::kDerived,
           "First start of all ranks, on the clock of the file: what was subtracted from ts_us.");
  return table;
}

std::string_view DeviceType(const Trace& trace, const Table& events) {
  const auto& names = Texts(events, "name").texts();
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool is_mtia = trace.meta().backend.find("mtia:hccl") != std::string::npos;
  return is_mtia                                                  ? "MTIA"
         : has("cudaLaunchKernel")                                ? "NVIDIA GPU"
         : has("hipLaunchKernel")                                 ? "AMD GPU"
         : has("runFunction - job_prep_and_submit_for_execution") ? "MTIA"
                                                                  : "UNKNOWN GPU";
}

// The rows of each rank, in their order.
std::map<int64_t, std::vector<uint32_t>> RowsByRank(const Table& events) {
  const IntValues& ranks = Ints(events, "rank");
  std::map<int64_t, std::vector<uint32_t>> rows;
  for (const uint32_t row : EachRow(ranks.size())) {
    rows[ranks[row]].push_back(row);
  }
  return rows;
}

double FirstStart(const Table& events) {
  const FloatValues& starts = Floats(events, "ts_us");
  return starts.empty() ? 0.0 : *std::min_element(starts.begin(), starts.end());
}

// Per row, whether it has the name of a step.
class StepRows {
 public:
  explicit StepRows(const Table& events) : names_(Texts(events, "name")) {
    for (const std::string& text : names_.texts()) {
      is_step_.push_back(IsHtaStepName(text) ? 1 : 0);
    }
  }
  bool Contains(uint32_t row) const { return is_step_[names_.numbers()[row]] != 0; }
  // HTA leaves out steps if there are at least two.
  bool has_several() const { return std::count(is_step_.begin(), is_step_.end(), 1) >= 2; }

 private:
  const StringValues& names_;
  std::vector<char> is_step_;  // by text
};

// HTA's filter of steps, over the rows of one rank.
class StepFilter {
 public:
  StepFilter(const Table& events, const Params& params)
      : ts_(Floats(events, "ts_us")),
        end_(Floats(events, "end_us")),
        correlation_(Ints(events, "correlation")),
        steps_(events),
        device_(FindDeviceRows(events)),
        includes_last_(params.Flag(kIncludeLastStepParam)) {}

  bool applies() const { return steps_.has_several(); }

  // Rows of the device come first.
  void Keep(const std::vector<uint32_t>& rows, std::vector<uint32_t>& kept) const {
    std::vector<uint32_t> host;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(host),
                 [&](uint32_t row) { return device_[row] == 0; });
    if (host.empty()) {
      kept.insert(kept.end(), rows.begin(), rows.end());
      return;
    }
    const double last = LastMoment(host);
    std::erase_if(
        host, [&](uint32_t row) { return includes_last_ ? ts_[row] > last : ts_[row] >= last; });
    HashMap<int64_t, int64_t> calls;
    for (const uint32_t row : host) {
      ++calls[correlation_[row]];
    }
    for (const uint32_t row : rows) {
      const bool is_tied = device_[row] != 0 && correlation_[row] >= 0;
      const auto found = is_tied ? calls.find(correlation_[row]) : calls.end();
      const int64_t times = found == calls.end() ? 0 : std::min(found->second, kMostRepeats);
      kept.insert(kept.end(), static_cast<size_t>(times), row);
    }
    kept.insert(kept.end(), host.begin(), host.end());
  }

 private:
  // The start of the last step, or its end, which HTA did not align. Without any step, the first
  // start or the last end.
  double LastMoment(const std::vector<uint32_t>& host) const {
    std::vector<uint32_t> rows;
    std::copy_if(host.begin(), host.end(), std::back_inserter(rows),
                 [&](uint32_t row) { return steps_.Contains(row); });
    const bool has_steps = !rows.empty();
    const std::vector<uint32_t>& looked_at = has_steps ? rows : host;
    const FloatValues& times = includes_last_ ? end_ : ts_;
    const auto before = [&](uint32_t a, uint32_t b) { return times[a] < times[b]; };
    const bool wants_first = !has_steps && !includes_last_;
    return times[wants_first ? *std::min_element(looked_at.begin(), looked_at.end(), before)
                             : *std::max_element(looked_at.begin(), looked_at.end(), before)];
  }

  const FloatValues& ts_;
  const FloatValues& end_;
  const IntValues& correlation_;
  StepRows steps_;
  std::vector<char> device_;
  bool includes_last_;
};

Table Filtered(const Table& events, const Params& params) {
  const StepFilter filter(events, params);
  if (!filter.applies()) {
    return events;
  }
  std::vector<uint32_t> kept;
  for (const auto& [rank, rows] : RowsByRank(events)) {
    filter.Keep(rows, kept);
  }
  return TakeRows(events, kept);
}

void FillRanks(const Table& events, double origin_us, Table& ranks) {
  std::map<int64_t, int64_t> rows;
  for (const int64_t rank : Ints(events, "rank")) {
    ++rows[rank];
  }
  const IntValues& numbers = Ints(ranks, "rank");
  auto& counts = std::get<IntValues>(ranks.Find("rows")->values);
  auto& origins = std::get<FloatValues>(ranks.Find("origin_us")->values);
  for (size_t row = 0; row < numbers.size(); ++row) {
    counts[row] = rows[numbers[row]];
    origins[row] = origin_us;
  }
}

}  // namespace

// The tables without rows: ReadHtaEvents fills them.
Result<Tables> MapHtaEvents(const RankView&, const Params&) {
  return Tables{NewHtaEventTable(), NewHtaColumnTable(), NewRankTable()};
}

Result<Tables> ReadHtaEvents(Tables tables, const RankView& view, ByteSource& text, const Params&) {
  const Meta& meta = view.trace.meta();
  EventTexts texts(text, meta.events_begin_byte, meta.events_end_byte);
  RecordedFrame frame(view.rank);
  BS_TRY(frame.Read(texts));
  tables[1] = frame.ColumnTable();
  tables[0] = frame.TakeEvents();
  const auto parsed = static_cast<int64_t>(tables[0].rows());
  Row(tables[2])
      .Int(view.rank)
      .Text(DeviceType(view.trace, tables[0]))
      .Int(parsed)
      .Int(parsed)
      .Float(0);
  return tables;
}

Result<Tables> FinishHtaEvents(Tables tables, const Params& params) {
  if (params.Flag(kAsParsedParam)) {
    return tables;
  }
  const double origin = FirstStart(tables[0]);
  for (double& ts : std::get<FloatValues>(tables[0].Find("ts_us")->values)) {
    ts -= origin;
  }
  tables[0] = Filtered(tables[0], params);
  FillRanks(tables[0], origin, tables[2]);
  return tables;
}

}  // namespace borescope::internal
