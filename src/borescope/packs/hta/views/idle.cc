// HTA's get_idle_time_breakdown: the gaps of every stream, from the end of the row before to the
// start of the next in order of start, by what ended them. Rows that overlap make negative gaps.
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/row.h"
#include "borescope/packs/hta/numbers.h"
#include "borescope/packs/hta/rows.h"
#include "borescope/packs/hta/tables.h"

namespace borescope::internal {
namespace {

// In HTA's order. The first row of a stream, which has no gap before it, belongs to kOther.
enum Category : size_t { kHostWait, kKernelWait, kOther, kCategories };
constexpr std::string_view kNames[] = {"host_wait", "kernel_wait", "other"};

// A stream while its rows come in by start.
struct Stream {
  std::array<std::vector<HtaRepeated>, kCategories> gaps;
  std::optional<double> last_end_us;
};

class Gaps {
 public:
  Gaps(const HtaFrame& frame, double kernel_wait_us)
      : frame_(frame), kernel_wait_us_(kernel_wait_us) {}

  void Add(const HtaRow& row);
  const std::map<int64_t, Stream>& streams() const { return streams_; }

 private:
  void AddGap(Stream& stream, const HtaRow& row, double before_us, int64_t times) const;

  const HtaFrame& frame_;
  double kernel_wait_us_;
  std::map<int64_t, Stream> streams_;
};

void Gaps::AddGap(Stream& stream, const HtaRow& row, double before_us, int64_t times) const {
  const double gap = row.ts_us - before_us;
  const HostId launch = frame_.LaunchOf(row.device);
  Category category = gap < kernel_wait_us_ ? kKernelWait : kOther;
  if (launch.valid() && frame_.TimesOf(launch).ts_us > before_us) {
    category = kHostWait;
  }
  stream.gaps[category].push_back({gap, times});
}

void Gaps::Add(const HtaRow& row) {
  Stream& stream = streams_[row.stream];
  if (stream.last_end_us.has_value()) {
    AddGap(stream, row, *stream.last_end_us, 1);
  }
  stream.last_end_us = row.end_us();
  if (row.times > 1) {
    AddGap(stream, row, row.end_us(), row.times - 1);
  }
}

Gaps FindGaps(const HtaFrame& frame, const Params& params) {
  Gaps gaps(frame, static_cast<double>(params.Number(kKernelWaitParam)) / 1000.0);
  for (const HtaRow& row : HtaDeviceRows(frame)) {
    if (row.device.valid() && IsDeviceWork(frame.trace().device().kind[row.device.value])) {
      gaps.Add(row);
    }
  }
  return gaps;
}

double Sum(const std::vector<HtaRepeated>& gaps) {
  double sum = 0;
  for (const auto& [gap, times] : gaps) {
    sum += gap * static_cast<double>(times);
  }
  return sum;
}

void AddKeys(Table& table) {
  AddRankKey(table);
  AddInt(table, "stream", Unit::kNone, Role::kKey, "Stream number; all devices pooled.");
  AddString(table, "idle_category", Role::kKey,
            "host_wait: launched after the gap began; kernel_wait: a short gap; other.");
}

Table NewIdleTable() {
  Table table{"idle", "Idle time of streams (as HolisticTraceAnalysis)", {}};
  AddKeys(table);
  AddFloat(table, "idle_time_us", Unit::kMicroseconds, Role::kSum, "Sum of the gaps.");
  AddFloat(table, "idle_time_ratio", Unit::kShare, Role::kDerived,
           "Part of the idle time of the stream, rounded to two decimals; missing if that is 0.");
  return table;
}

Table NewIntervalTable() {
  Table table{"idle_intervals", "Gaps (as HolisticTraceAnalysis)", {}};
  AddKeys(table);
  AddHtaStats(table, Unit::kMicroseconds, "_us", "gaps");
  return table;
}

// Categories without rows are absent; the first row of a stream makes sure of kOther.
bool IsListed(const Stream& stream, size_t category) {
  return category == kOther || !stream.gaps[category].empty();
}

void AddIdleRows(Table& table, int64_t rank, int64_t number, const Stream& stream) {
  double total = 0;
  for (const std::vector<HtaRepeated>& gaps : stream.gaps) {
    total += Sum(gaps);
  }
  for (size_t category = 0; category < kCategories; ++category) {
    if (IsListed(stream, category)) {
      const double sum = Sum(stream.gaps[category]);
      Row row(table);
      row.Int(rank).Int(number).Text(kNames[category]).Float(HtaRound(sum, 2));
      total == 0 ? row.Missing() : row.Float(HtaRound(sum / total, 2));
    }
  }
}

void AddIntervalRows(Table& table, int64_t rank, int64_t number, const Stream& stream) {
  for (size_t category = 0; category < kCategories; ++category) {
    if (IsListed(stream, category)) {
      Row row(table);
      row.Int(rank).Int(number).Text(kNames[category]);
      PushHtaStats(row, HtaDescribe(stream.gaps[category]), 2);
    }
  }
}

}  // namespace

Result<Tables> MapHtaIdle(const RankView& view, const Params& params) {
  const HtaFrame frame(view, HtaFrame::StepsOf(params));
  const Gaps gaps = FindGaps(frame, params);
  Tables findings{NewIdleTable(), NewIntervalTable()};
  for (const auto& [number, stream] : gaps.streams()) {
    AddIdleRows(findings[0], view.rank, number, stream);
    AddIntervalRows(findings[1], view.rank, number, stream);
  }
  return findings;
}

}  // namespace borescope::internal
