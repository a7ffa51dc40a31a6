#include "borescope/analysis/verbs/summary/left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/summary/cells.h"
#include "borescope/analysis/verbs/summary/verdict_rules.h"
#include "borescope/base/saturating.h"
#include "borescope/table/display/tone.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kBeforeFirst = "before_first_launch_ns";
constexpr std::string_view kAfterLast = "after_last_work_ns";
constexpr std::string_view kBeforeRecording = "before_recording_ns";
constexpr std::string_view kInheritedGaps = "inherited_ns";  // of idle_causes

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
  std::sort(a.begin(), a.end());
  return a;
}

Table NewLeftOut() {
  Table table{"left_out", "Left out of shares, as it says nothing about the use of devices", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc).hints.tone = Tone::kFaint;
  };
  AddRankKey(table);
  AddGpuKey(table);
  ns(kBeforeFirst, "Until the first launch of a whole process, or of a clock that jumped.");
  ns(kAfterLast, "After the last work of a whole process, of a clock that jumped or a cut file.");
  ns(kBeforeRecording, "While work ran that was launched before the recording began.");
  return table;
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
  add(head_ns, "before the first launch");
  add(tail_ns, "after the last device work");
  add(before_recording_ns, "in which work from before the recording ran");
  return words;
}

LeftOut FindLeftOut(const SummaryTables& tables) {
  const std::vector<int64_t>& whole = tables.process_ranks;
  return {SumOnRanks(tables.idle_causes, "head_ns", whole),
          SumOnRanks(tables.idle_causes, "tail_ns", whole), SumOf(tables.left_out, kBeforeFirst),
          SumOf(tables.left_out, kAfterLast), SumOf(tables.left_out, kBeforeRecording)};
}

Table LeftOutTable(const SummaryTables& tables) {
  const std::vector<int64_t> jumped = RanksOfCheck(tables.quality, "clock-jump");
  const std::vector<int64_t> heads = Joined(jumped, tables.process_ranks);
  const std::vector<int64_t> tails = Joined(RanksOfCheck(tables.quality, "truncated-file"), heads);
  const Table& causes = tables.idle_causes;
  Table left_out = NewLeftOut();
  for (size_t row = 0; row < causes.rows(); ++row) {
    const int64_t rank = Ints(causes, "rank")[row];
    const auto if_in = [&](const std::vector<int64_t>& ranks, std::string_view column) {
      return std::binary_search(ranks.begin(), ranks.end(), rank) ? Ints(causes, column)[row] : 0;
    };
    Row(left_out)
        .Int(rank)
        .MaybeInt(CellOrMissing(causes, "gpu", row))
        .Int(if_in(heads, "head_ns"))
        .Int(if_in(tails, "tail_ns"))
        .Int(AddSaturating(Ints(causes, kBeforeRecording)[row], Ints(causes, kInheritedGaps)[row]));
  }
  return left_out;
}

int64_t LeftOutOfDevice(const SummaryTables& tables, size_t row) {
  int64_t sum_ns = 0;
  for (const std::string_view column : {kBeforeFirst, kAfterLast, kBeforeRecording}) {
    AddSaturatingTo(sum_ns, Ints(tables.left_out, column)[row]);
  }
  return sum_ns;
}

bool IsLeftOut(const SummaryTables& tables, size_t row, std::string_view column) {
  const std::string_view left_out = column == "head_ns"   ? kBeforeFirst
                                    : column == "tail_ns" ? kAfterLast
                                                          : std::string_view();
  return !left_out.empty() && Ints(tables.left_out, left_out)[row] > 0;
}

Table ShownLeftOut(const Table& left_out) {
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < left_out.rows(); ++row) {
    if (Ints(left_out, kBeforeFirst)[row] > 0 || Ints(left_out, kAfterLast)[row] > 0 ||
        Ints(left_out, kBeforeRecording)[row] > 0) {
      rows.push_back(row);
    }
  }
  return TakeRows(left_out, rows);
}

int64_t ObservedSpan(const SummaryTables& tables) {
  return SubtractSaturating(SumOf(tables.breakdown, "span_ns"), FindLeftOut(tables).all_ns());
}

}  // namespace borescope::internal
