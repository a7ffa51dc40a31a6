#include "borescope/query/row_cursor.h"

#include <algorithm>

namespace borescope::internal::query {
namespace {

bool Holds(Comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessOrEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterOrEqual:
      return a >= b;
  }
  return true;
}

// The rows [begin, end) whose number compares so with `number`, among those of [begin, end).
void Narrow(Comparison comparison, int64_t number, int64_t& begin, int64_t& end) {
  // One beyond a number at either end of the range is that number: nothing is that large.
  const int64_t after = number == std::numeric_limits<int64_t>::max() ? number : number + 1;
  if (comparison == Comparison::kEqual || comparison == Comparison::kGreaterOrEqual) {
    begin = std::max(begin, number);
  } else if (comparison == Comparison::kGreater) {
    begin = std::max(begin, after);
  }
  if (comparison == Comparison::kEqual || comparison == Comparison::kLessOrEqual) {
    end = std::min(end, after);
  } else if (comparison == Comparison::kLess) {
    end = std::min(end, number);
  }
}

}  // namespace

void RowCursor::AddFilter(const PlannedFilter& planned, const FilterValue& value) {
  Filter filter{planned.column, planned.comparison,      value.kind,
                value.number,   std::string(value.text), {}};
  if (value.kind == FilterValue::Kind::kText) {
    filter.ids.reserve(ranks_.size());
    for (const RankRows& rank : ranks_) {
      const StringId id = rank.trace.strings().Find(value.text);
      filter.ids.push_back(id.valid() ? int64_t{id.value} : -1);
    }
  }
  filters_.push_back(std::move(filter));
}

// Where the plan has a value to search for: the rows that hold it. False where none can be searched
// for, or scanning is cheaper.
bool RowCursor::StartSearch(const Plan& plan, std::span<const FilterValue> values) {
  for (size_t i = 0; i < plan.filters.size(); ++i) {
    const auto [column, comparison] = plan.filters[i];
    const bool is_value =
        values[i].kind == FilterValue::Kind::kNumber || values[i].kind == FilterValue::Kind::kText;
    if (IsRowNumber(relation_, column) && comparison == Comparison::kEqual && is_value) {
      return false;  // a scan of one row
    }
  }
  for (size_t i = 0; i < plan.filters.size(); ++i) {
    const auto [column, comparison] = plan.filters[i];
    const FilterValue& value = values[i];
    if (comparison != Comparison::kEqual || relation_.columns[column].spread == Spread::kFew ||
        (value.kind != FilterValue::Kind::kNumber && value.kind != FilterValue::Kind::kText) ||
        !orders_.IsWorthSorting(column)) {
      continue;
    }
    sorted_ = value.kind == FilterValue::Kind::kText ? orders_.Equal(column, value.text)
                                                     : orders_.Equal(column, value.number);
    return true;
  }
  return false;
}

void RowCursor::Start(const Plan& plan, std::span<const FilterValue> values) {
  filters_.clear();
  filters_.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    AddFilter(plan.filters[i], values[i]);
  }
  position_ = 0;
  rank_ = 0;
  at_end_ = std::any_of(values.begin(), values.end(), [](const FilterValue& value) {
    return value.kind == FilterValue::Kind::kNothing;
  });
  if (at_end_) {
    return;
  }
  if (plan.order.empty()) {
    in_order_ = StartSearch(plan, values);
  } else {
    in_order_ = true;
    sorted_ = orders_.By(plan.order);
  }
  ahead_.resize(in_order_ ? relation_.columns.size() : 0);
  for (Ahead& ahead : ahead_) {
    ahead.count = 0;
  }
  end_ = 0;
  if (!in_order_ && rank_ < ranks_.size() && !EnterRank()) {
    end_ = 0;
  }
  Settle();
}

bool RowCursor::EnterRank() {
  int64_t begin = 0;
  auto end = static_cast<int64_t>(relation_.size(rank()));
  for (const Filter& filter : filters_) {
    if (filter.kind != FilterValue::Kind::kNumber) {
      continue;
    }
    if (IsRowNumber(relation_, filter.column)) {
      Narrow(filter.comparison, filter.number, begin, end);
    } else if (filter.column == kRankColumn &&
               !Holds(filter.comparison, rank().data.rank, filter.number)) {
      return false;
    }
  }
  position_ = static_cast<size_t>(begin);
  end_ = static_cast<size_t>(std::max(begin, end));
  return true;
}

Cell RowCursor::GetInOrder(size_t column) {
  Ahead& ahead = ahead_[column];
  if (position_ < ahead.first || position_ >= ahead.first + ahead.count) {
    const ColumnSpec& spec = relation_.columns[column];
    ahead.first = position_;
    ahead.count = std::min(kAhead, sorted_.size() - position_);
    for (size_t i = 0; i < ahead.count; ++i) {
      const RowRef& ref = sorted_[position_ + i];
      ahead.cells[i] = spec.get(ranks_[ref.rank], ref.row);
    }
  }
  return ahead.cells[position_ - ahead.first];
}

bool RowCursor::PassesFilter(const Filter& filter) {
  if (filter.kind == FilterValue::Kind::kAnything) {
    return true;
  }
  const Cell cell = Get(filter.column);
  switch (cell.kind) {
    case CellKind::kInt:
      return Holds(filter.comparison, cell.number, filter.number);
    case CellKind::kPooled:
      return cell.number == filter.ids[rank_];
    case CellKind::kText:
      return cell.text == filter.text;
    default:
      return false;
  }
}

bool RowCursor::Passes() {
  return std::all_of(filters_.begin(), filters_.end(),
                     [&](const Filter& filter) { return PassesFilter(filter); });
}

bool RowCursor::Tick() {
  constexpr uint32_t kRowsBetweenLooks = 1 << 14;
  if (++skipped_ % kRowsBetweenLooks == 0 && deadline_.passed()) {
    timed_out_ = true;
    at_end_ = true;
  }
  return !timed_out_;
}

void RowCursor::SettleInOrder() {
  for (; position_ < sorted_.size(); ++position_) {
    rank_ = sorted_[position_].rank;
    row_ = sorted_[position_].row;
    if (Passes()) {
      return;
    }
    if (!Tick()) {
      return;
    }
  }
  at_end_ = true;
}

void RowCursor::SettleInRank() {
  while (true) {
    for (; position_ < end_; ++position_) {
      row_ = static_cast<uint32_t>(position_);
      const bool is_row = relation_.keeps == nullptr || relation_.keeps(rank(), row_);
      if ((is_row && Passes()) || !Tick()) {
        return;
      }
    }
    do {
      if (rank_ + 1 >= ranks_.size()) {
        at_end_ = true;
        return;
      }
      ++rank_;
    } while (!EnterRank());
  }
}

void RowCursor::Settle() {
  if (in_order_) {
    SettleInOrder();
  } else {
    SettleInRank();
  }
}

}  // namespace borescope::internal::query
