#include "borescope/analysis/verbs/variance/job_steps.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "borescope/analysis/measures/path/path.h"
#include "borescope/analysis/verbs/variance/rank_steps.h"
#include "borescope/base/each_row.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kSkew = "skew";

// A step of the job: its number, and which of the steps of that number it is on each rank.
using StepKey = std::pair<int64_t, uint32_t>;

StepKey KeyOf(const MatrixStep& step) { return {step.number, step.occurrence}; }

// The key of each step. The steps of a rank follow each other.
std::vector<StepKey> KeysOf(const std::vector<VarianceStepRow>& steps) {
  std::vector<StepKey> keys;
  keys.reserve(steps.size());
  std::map<int64_t, uint32_t> seen;
  for (size_t row = 0; row < steps.size(); ++row) {
    if (row > 0 && steps[row].rank != steps[row - 1].rank) {
      seen.clear();
    }
    keys.emplace_back(steps[row].step, seen[steps[row].step]++);
  }
  return keys;
}

// A part of a step of a rank. Names by their places in sorted lists, whatever order they came in.
struct PartCell {
  uint32_t step = 0;  // of the job
  uint32_t cause = 0;
  uint32_t name = 0;  // 0: none
  uint32_t rank = 0;
  int64_t ns = 0;
};

// Numbers texts by their order.
class TextOrder {
 public:
  explicit TextOrder(const StringValues& values)
      : sorted_(values.texts().begin(), values.texts().end()), place_(sorted_.size()) {
    std::sort(sorted_.begin(), sorted_.end());
    for (size_t i = 0; i < place_.size(); ++i) {
      place_[i] = static_cast<uint32_t>(
          std::lower_bound(sorted_.begin(), sorted_.end(), values.texts()[i]) - sorted_.begin());
    }
  }

  uint32_t Of(const StringValues& values, size_t row) const {
    return place_[values.numbers()[row]];
  }
  const std::string& Text(uint32_t place) const { return sorted_[place]; }
  size_t size() const { return sorted_.size(); }

 private:
  std::vector<std::string> sorted_;
  std::vector<uint32_t> place_;  // per number of the column
};

bool IsCommunication(std::string_view cause) {
  return cause == BoundByName(BoundBy::kGpuCommunication) ||
         cause == PartCauseName(PartCause::kExposedComm);
}

class Collector {
 public:
  Collector(const Tables& tables, bool leaves_out_first)
      : steps_(ReadRows<VarianceStepRow>(tables)),
        parts_(TableOf<VariancePartRow>(tables)),
        causes_(Texts(parts_, "cause")),
        names_(Texts(parts_, "name")),
        keys_(KeysOf(steps_)) {
    LeaveOut(leaves_out_first);
    ReadSteps();
    SetParts(ReadRows<VarianceRankRow>(tables));
    ReadParts();
  }

  JobSteps Finish() {
    found_.ranks.size() < 2 ? TakeOneRank() : CombineRanks();
    return std::move(found_);
  }

 private:
  struct OfRank {
    uint32_t rank = 0;
    int64_t length_ns = 0;
    int64_t busy_ns = 0;  // without communication
  };

  void SetParts(const std::vector<VarianceRankRow>& ranks) {
    std::set<std::string_view> kinds;
    std::map<int64_t, std::string_view> parts_of;
    for (const VarianceRankRow& rank : ranks) {
      kinds.insert(rank.parts);
      parts_of[rank.rank] = rank.parts;
    }
    for (const std::string_view kind : kinds) {
      found_.parts += found_.parts.empty() ? "" : ", ";
      found_.parts += kind;
    }
    for (RankSteps& rank : found_.ranks) {
      rank.parts = parts_of[rank.rank];
    }
  }

  void LeaveOut(bool leaves_out_first) {
    std::set<int64_t> numbers;
    for (size_t row = 0; leaves_out_first && row < keys_.size(); ++row) {
      if (steps_[row].is_first) {
        left_out_.insert(keys_[row]);
        numbers.insert(keys_[row].first);
      }
    }
    found_.left_out.assign(numbers.begin(), numbers.end());
  }

  bool IsLeftOut(const StepKey& key) const { return left_out_.contains(key); }

  void ReadSteps() {
    std::set<StepKey> kept;
    for (size_t row = 0; row < steps_.size(); ++row) {
      const VarianceStepRow& step = steps_[row];
      if (found_.ranks.empty() || found_.ranks.back().rank != step.rank) {
        found_.ranks.push_back({step.rank, {}, {}});
        first_row_.push_back(row);
      }
      if (!IsLeftOut(keys_[row])) {
        found_.ranks.back().steps.push_back(
            {keys_[row].first, step.span_ns, step.work.value_or(kMissing), keys_[row].second});
        kept.insert(keys_[row]);
      }
    }
    numbers_.assign(kept.begin(), kept.end());
    for (RankSteps& rank : found_.ranks) {
      std::sort(rank.steps.begin(), rank.steps.end(),
                [](const MatrixStep& a, const MatrixStep& b) { return KeyOf(a) < KeyOf(b); });
    }
  }

  uint32_t StepOf(const StepKey& key) const {
    return static_cast<uint32_t>(std::lower_bound(numbers_.begin(), numbers_.end(), key) -
                                 numbers_.begin());
  }

  void ReadParts() {
    const IntValues& ranks = Ints(parts_, "rank");
    const IntValues& of_step = Ints(parts_, "step");
    const IntValues& ns = Ints(parts_, "ns");
    const StringValues& causes = Texts(parts_, "cause");
    const StringValues& names = Texts(parts_, "name");
    const Column& name = *parts_.Find("name");
    uint32_t rank = 0;
    for (const size_t row : EachIndex(ranks.size())) {
      while (found_.ranks[rank].rank != ranks[row]) {
        ++rank;
      }
      const StepKey& key = keys_[first_row_[rank] + static_cast<size_t>(of_step[row])];
      if (!IsLeftOut(key)) {
        cells_.push_back({StepOf(key), causes_.Of(causes, row),
                          name.IsMissing(row) ? 0 : names_.Of(names, row) + 1, rank, ns[row]});
      }
    }
    SortCells();
  }

  CauseRow& RowOf(int64_t rank, const PartCell& cell) {
    const auto [found, is_new] = row_of_.try_emplace({rank, cell.cause, cell.name}, rows_.size());
    if (is_new) {
      rows_.push_back({{rank, causes_.Text(cell.cause),
                        cell.name == 0 ? std::string() : names_.Text(cell.name - 1)},
                       {}});
    }
    return rows_[found->second];
  }

  void TakeRows() {
    std::sort(rows_.begin(), rows_.end(),
              [](const CauseRow& a, const CauseRow& b) { return a.key < b.key; });
    found_.job.causes = std::move(rows_);
  }

  void TakeOneRank() {
    if (found_.ranks.empty()) {
      return;
    }
    found_.job.steps = found_.ranks[0].steps;
    for (const PartCell& cell : cells_) {
      RowOf(found_.ranks[0].rank, cell).cells.push_back({cell.step, cell.ns});
    }
    TakeRows();
  }

  // Per step of the job: what each rank that has it took.
  std::vector<std::vector<OfRank>> RanksOfSteps() const {
    std::vector<std::vector<OfRank>> of_steps(numbers_.size());
    for (uint32_t rank = 0; rank < found_.ranks.size(); ++rank) {
      for (const MatrixStep& step : found_.ranks[rank].steps) {
        of_steps[StepOf(KeyOf(step))].push_back({rank, step.length_ns, step.length_ns});
      }
    }
    for (const PartCell& cell : cells_) {
      if (IsCommunication(causes_.Text(cell.cause))) {
        std::vector<OfRank>& ranks = of_steps[cell.step];
        std::lower_bound(ranks.begin(), ranks.end(), cell.rank, [](const OfRank& a, uint32_t rank) {
          return a.rank < rank;
        })->busy_ns -= cell.ns;
      }
    }
    return of_steps;
  }

  int64_t WorkOf(size_t step) const {
    int64_t most = kMissing;
    for (const RankSteps& rank : found_.ranks) {
      const auto found =
          std::lower_bound(rank.steps.begin(), rank.steps.end(), numbers_[step],
                           [](const MatrixStep& a, const StepKey& key) { return KeyOf(a) < key; });
      if (found != rank.steps.end() && KeyOf(*found) == numbers_[step]) {
        most = std::max(most, found->work);
      }
    }
    return most;
  }

  std::string_view NameOf(const PartCell& cell) const {
    return cell.name == 0 ? std::string_view() : names_.Text(cell.name - 1);
  }

  void SortCells() {
    std::sort(cells_.begin(), cells_.end(), [](const PartCell& a, const PartCell& b) {
      return std::tie(a.step, a.cause, a.name, a.rank) < std::tie(b.step, b.cause, b.name, b.rank);
    });
  }

  // Names that one rank has folded into others are folded on all: else one rank seems to spend more
  // on them, and less on others.
  void FoldNames() {
    std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> ranks_of;  // cause, name
    std::map<uint32_t, uint32_t> other_of;                                 // cause -> name
    for (const PartCell& cell : cells_) {
      ranks_of[{cell.cause, cell.name}].insert(cell.rank);
      if (NameOf(cell) == kOtherNamesText) {
        other_of[cell.cause] = cell.name;
      }
    }
    if (other_of.empty()) {
      return;
    }
    for (PartCell& cell : cells_) {
      const auto other = other_of.find(cell.cause);
      if (other != other_of.end() && !NameOf(cell).empty() &&
          LacksOne(ranks_of[{cell.cause, other->second}], ranks_of[{cell.cause, cell.name}])) {
        cell.name = other->second;
      }
    }
    SortCells();
    JoinEqualCells();
  }

  // Whether one of `folding` is not among `having`.
  static bool LacksOne(const std::set<uint32_t>& folding, const std::set<uint32_t>& having) {
    return !std::includes(having.begin(), having.end(), folding.begin(), folding.end());
  }

  void JoinEqualCells() {
    size_t kept = 0;
    for (size_t i = 0; i < cells_.size(); ++i) {
      const PartCell& cell = cells_[i];
      if (kept > 0 && std::tuple(cells_[kept - 1].step, cells_[kept - 1].cause,
                                 cells_[kept - 1].name, cells_[kept - 1].rank) ==
                          std::tuple(cell.step, cell.cause, cell.name, cell.rank)) {
        cells_[kept - 1].ns += cell.ns;
      } else {
        cells_[kept++] = cell;
      }
    }
    cells_.resize(kept);
  }

  void CombineRanks() {
    FoldNames();
    const std::vector<std::vector<OfRank>> of_steps = RanksOfSteps();
    auto cell = cells_.begin();
    for (const uint32_t step : EachRow(numbers_.size())) {
      const auto [waited_for, length_ns] = Decide(of_steps[step]);
      found_.job.steps.push_back(
          {numbers_[step].first, length_ns, WorkOf(step), numbers_[step].second});
      while (cell != cells_.end() && cell->step == step) {
        auto next = cell;
        while (next != cells_.end() && next->step == step && next->cause == cell->cause &&
               next->name == cell->name) {
          ++next;
        }
        AddKind({cell, next}, of_steps[step].size(), waited_for.rank);
        cell = next;
      }
      if (length_ns > waited_for.length_ns) {
        skew_.push_back({step, length_ns - waited_for.length_ns});
      }
    }
    if (!skew_.empty()) {
      rows_.push_back({{kMissing, std::string(kSkew), {}}, std::move(skew_)});
    }
    TakeRows();
  }

  // The rank that waited least, and the length of the longest.
  static std::pair<OfRank, int64_t> Decide(const std::vector<OfRank>& ranks) {
    OfRank waited_for = ranks.front();
    int64_t length_ns = 0;
    for (const OfRank& rank : ranks) {
      waited_for = rank.busy_ns > waited_for.busy_ns ? rank : waited_for;
      length_ns = std::max(length_ns, rank.length_ns);
    }
    return {waited_for, length_ns};
  }

  // What all ranks spent on one cause and name in one step.
  void AddKind(std::span<const PartCell> cells, size_t ranks, uint32_t waited_for) {
    std::vector<int64_t> values(ranks - cells.size(), 0);
    int64_t own_ns = 0;
    for (const PartCell& cell : cells) {
      values.push_back(cell.ns);
      own_ns = cell.rank == waited_for ? cell.ns : own_ns;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    const PartCell& kind = cells.front();
    const int64_t typical_ns = IsCommunication(causes_.Text(kind.cause)) ? own_ns : *middle;
    if (typical_ns != 0) {
      RowOf(kMissing, kind).cells.push_back({kind.step, typical_ns});
    }
    if (own_ns != typical_ns) {
      RowOf(found_.ranks[waited_for].rank, kind).cells.push_back({kind.step, own_ns - typical_ns});
    }
  }

  const std::vector<VarianceStepRow> steps_;
  const Table& parts_;  // it has many rows, whose texts are numbered
  TextOrder causes_;
  TextOrder names_;
  JobSteps found_;
  std::vector<size_t> first_row_;  // per rank, in `steps`
  std::vector<StepKey> keys_;      // per row of `steps`
  std::set<StepKey> left_out_;
  std::vector<StepKey> numbers_;  // of the steps of the job
  std::vector<PartCell> cells_;
  std::vector<CauseRow> rows_;
  std::map<std::tuple<int64_t, uint32_t, uint32_t>, size_t> row_of_;
  std::vector<MatrixCell> skew_;
};

}  // namespace

Result<void> CheckParts(const Tables& tables) {
  std::vector<std::pair<int64_t, int64_t>> steps_of;  // rank and number of its steps, as they come
  for (const VarianceStepRow& step : ReadRows<VarianceStepRow>(tables)) {
    if (steps_of.empty() || steps_of.back().first != step.rank) steps_of.emplace_back(step.rank, 0);
    ++steps_of.back().second;
  }
  const Table& parts = TableOf<VariancePartRow>(tables);
  const IntValues& ranks = Ints(parts, "rank");
  const IntValues& of_step = Ints(parts, "step");
  auto rank = steps_of.begin();
  for (size_t row = 0; row < ranks.size(); ++row) {
    rank = std::find_if(rank, steps_of.end(),
                        [&](const auto& each) { return each.first == ranks[row]; });
    if (rank == steps_of.end() || of_step[row] < 0 || of_step[row] >= rank->second) {
      return Error{.code = ErrorCode::kCorrupt,
                   .cause = "a part of a step that is not there",
                   .remedy = "map the recordings again"};
    }
  }
  return {};
}

JobSteps CollectSteps(const Tables& tables, bool leaves_out_first) {
  return Collector(tables, leaves_out_first).Finish();
}

}  // namespace borescope::internal
