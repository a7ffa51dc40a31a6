#include "borescope/analysis/verbs/summary/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

int64_t SumOnRanks(const Table& table, std::string_view column, std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const IntValues& rank = Ints(table, "rank");
  const IntValues& values = Ints(table, column);
  int64_t sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (std::binary_search(ranks.begin(), ranks.end(), rank[row])) {
      AddSaturatingTo(sum, values[row]);
    }
  }
  return sum;
}

std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

int64_t LeftOut::all_ns() const {
  return AddSaturating(AddSaturating(head_ns, tail_ns), before_recording_ns);
}

int64_t LeftOut::Of(std::string_view column) const {
  return column == "head_ns" ? head_ns : column == "tail_ns" ? tail_ns : 0;
}

std::string LeftOut::Words() const {
  std::string words;
  const auto add = [&](int64_t ns, std::string_view when) {
    if (ns > 0) {
      words += fmt::format("{} {} {}", words.empty() ? "; without" : " and", FormatTime(ns), when);
    }
  };
  add(process_head_ns, "before the first launch");
  add(process_tail_ns, "after the last device work");
  add(before_recording_ns, "in which work from before the recording ran");
  return words;
}

LeftOut FindLeftOut(const SummaryTables& tables) {
  const std::vector<int64_t> jumped = RanksOfCheck(tables.quality, "clock-jump");
  const std::vector<int64_t> cut = Joined(RanksOfCheck(tables.quality, "truncated-file"), jumped);
  const Table& causes = tables.idle_causes;
  const std::vector<int64_t>& whole = tables.process_ranks;
  return {SumOnRanks(causes, "head_ns", whole), SumOnRanks(causes, "tail_ns", whole),
          SumOnRanks(causes, "head_ns", Joined(jumped, whole)),
          SumOnRanks(causes, "tail_ns", Joined(cut, whole)), SumOf(causes, "before_recording_ns")};
}

int64_t LeftOutOfDevice(const SummaryTables& tables, size_t row) {
  const Table& causes = tables.idle_causes;
  const int64_t before_ns = Ints(causes, "before_recording_ns")[row];
  const std::vector<int64_t>& whole = tables.process_ranks;
  if (!std::binary_search(whole.begin(), whole.end(), Ints(causes, "rank")[row])) {
    return before_ns;
  }
  return AddSaturating(before_ns,
                       AddSaturating(Ints(causes, "head_ns")[row], Ints(causes, "tail_ns")[row]));
}

int64_t ObservedSpan(const SummaryTables& tables) {
  int64_t span_ns = SumOf(tables.breakdown, "span_ns");
  for (size_t row = 0; row < tables.idle_causes.rows(); ++row) {
    span_ns = SubtractSaturating(span_ns, LeftOutOfDevice(tables, row));
  }
  return span_ns;
}

}  // namespace borescope::internal
