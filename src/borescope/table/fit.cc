#include "borescope/table/fit.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <variant>
#include <vector>

#include "borescope/table/table_ops.h"

namespace borescope::internal {
namespace {

constexpr size_t kNumberBytes = 10;  // of a number with its comma

size_t CellBytes(const Column& column, size_t row) {
  const auto* texts = std::get_if<StringValues>(&column.values);
  return texts == nullptr ? kNumberBytes : (*texts)[row].size() + 3;
}

// The rows of [begin, end) with the extremes of `column`, in order.
void KeepExtremes(const Column& column, size_t begin, size_t end, std::vector<uint32_t>& kept) {
  size_t lowest = begin;
  size_t highest = begin;
  for (size_t row = begin + 1; row < end; ++row) {
    lowest = CompareCells(column, row, lowest) < 0 ? row : lowest;
    highest = CompareCells(column, row, highest) > 0 ? row : highest;
  }
  kept.push_back(static_cast<uint32_t>(std::min(lowest, highest)));
  if (lowest != highest) {
    kept.push_back(static_cast<uint32_t>(std::max(lowest, highest)));
  }
}

size_t RowBytes(const Table& table, size_t row) {
  size_t bytes = 0;
  for (const Column& column : table.columns) {
    bytes += CellBytes(column, row);
  }
  return bytes;
}

// Per row the largest value of the existing columns; outermost rows are larger than all.
IntValues LargestValues(const Table& table, std::span<const std::string> values) {
  IntValues largest(table.rows(), 0);
  if (const Column* depth = table.Find("depth"); depth != nullptr) {
    const auto& depths = std::get<IntValues>(depth->values);
    std::transform(depths.begin(), depths.end(), largest.begin(), [](int64_t level) {
      return level == 0 ? std::numeric_limits<int64_t>::max() : 0;
    });
  }
  for (const std::string& value : values) {
    const Column* column = table.Find(value);
    const auto* cells = column == nullptr ? nullptr : std::get_if<IntValues>(&column->values);
    for (size_t row = 0; cells != nullptr && row < cells->size(); ++row) {
      largest[row] = std::max(largest[row], (*cells)[row]);
    }
  }
  return largest;
}

}  // namespace

size_t RowsThatFit(const Table& table, size_t rows, size_t bytes) {
  const size_t most = std::min(rows, table.rows());
  size_t taken = 0;
  for (size_t row = 0; row < most; ++row) {
    taken += RowBytes(table, row);
    if (taken > bytes && row > 0) {
      return row;
    }
  }
  return most;
}

Table Outline(const Table& table, std::string_view value, size_t rows) {
  const Column* column = table.Find(value);
  if (table.rows() <= rows || column == nullptr) {
    return Head(table, rows);
  }
  const size_t stretches = std::max<size_t>(1, rows / 2);
  std::vector<uint32_t> kept;
  kept.reserve(stretches * 2);
  for (size_t i = 0; i < stretches; ++i) {
    const size_t begin = table.rows() * i / stretches;
    const size_t end = table.rows() * (i + 1) / stretches;
    KeepExtremes(*column, begin, end, kept);
  }
  return TakeRows(table, kept);
}

Table LargestRows(const Table& table, std::span<const std::string> values, size_t rows,
                  size_t bytes) {
  if (RowsThatFit(table, rows, bytes) == table.rows()) {
    return table;
  }
  const IntValues largest = LargestValues(table, values);
  std::vector<uint32_t> kept(table.rows());
  std::iota(kept.begin(), kept.end(), 0U);
  std::stable_sort(kept.begin(), kept.end(),
                   [&](uint32_t a, uint32_t b) { return largest[a] > largest[b]; });
  kept.resize(std::min(kept.size(), rows));
  size_t taken = 0;
  for (size_t i = 0; i < kept.size(); ++i) {
    taken += RowBytes(table, kept[i]);
    if (taken > bytes && i > 0) {
      kept.resize(i);
    }
  }
  std::sort(kept.begin(), kept.end());
  return TakeRows(table, kept);
}

}  // namespace borescope::internal
