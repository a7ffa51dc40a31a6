#include "borescope/table/text_ranks.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/base/sort_runs.h"

namespace borescope::internal {
namespace {

constexpr size_t kPieceBytes = sizeof(uint64_t);

struct Entry {
  uint64_t piece = 0;  // the bytes of the text that are compared next
  std::string_view text;
  uint32_t id = 0;
};

// A range of entries that are equal up to `depth`.
struct Task {
  size_t begin;
  size_t end;
  size_t depth;
};

// Eight bytes from `depth` on as a number that compares as they do; bytes after the end are 0.
uint64_t PieceAt(std::string_view text, size_t depth) {
  unsigned char bytes[kPieceBytes] = {};
  std::memcpy(bytes, text.data() + depth, std::min(kPieceBytes, text.size() - depth));
  const auto piece = std::bit_cast<uint64_t>(bytes);
  return std::endian::native == std::endian::little ? __builtin_bswap64(piece) : piece;
}

// Sorts equal entries by their next piece, and keeps those that are still equal for later. A text
// that ends in the piece comes before those of the same piece that continue, and a shorter one
// before a longer one, whose further bytes are 0.
void SortByPiece(std::span<Entry> entries, const Task& task, std::vector<Task>& tasks) {
  const std::span<Entry> range = entries.subspan(task.begin, task.end - task.begin);
  for (Entry& entry : range) {
    entry.piece = PieceAt(entry.text, task.depth);
  }
  const size_t next = task.depth + kPieceBytes;
  const auto length = [&](const Entry& entry) { return std::min(entry.text.size(), next); };
  const auto less = [&](const Entry& a, const Entry& b) {
    return a.piece != b.piece ? a.piece < b.piece : length(a) < length(b);
  };
  size_t calls = 0;
  std::sort(range.begin(), range.end(), StoppableLess(less, calls));
  for (size_t begin = 0; begin < range.size();) {
    size_t end = begin + 1;
    while (end < range.size() && range[end].piece == range[begin].piece &&
           length(range[end]) == length(range[begin])) {
      ++end;
    }
    // Texts are distinct: at most one of those that end is here.
    if (end - begin > 1 && length(range[begin]) == next) {
      tasks.push_back({task.begin + begin, task.begin + end, next});
    }
    begin = end;
  }
}

// Sorts distinct texts.
void SortTexts(std::vector<Entry>& entries) {
  std::vector<Task> tasks;
  if (entries.size() > 1) {
    tasks.push_back({0, entries.size(), 0});
  }
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    SortByPiece(entries, task, tasks);
  }
}

}  // namespace

std::vector<uint32_t> TextRanks(const StringValues& cells) {
  std::vector<uint32_t> ranks(cells.size());
  if (cells.empty()) {
    return ranks;
  }
  // Every distinct text is one object (StringValues), so that its address identifies it.
  const std::string* first = &cells[0];
  const std::string* last = first;
  for (size_t row = 0; row < cells.size(); ++row) {
    first = std::min(first, &cells[row]);
    last = std::max(last, &cells[row]);
  }
  std::vector<Entry> entries;
  std::vector<char> is_seen(static_cast<size_t>(last - first) + 1, 0);
  for (size_t row = 0; row < cells.size(); ++row) {
    ranks[row] = static_cast<uint32_t>(&cells[row] - first);
    if (std::exchange(is_seen[ranks[row]], 1) == 0) {
      entries.push_back({0, cells[row], ranks[row]});
    }
  }
  SortTexts(entries);
  std::vector<uint32_t> rank_of(is_seen.size(), 0);
  for (size_t rank = 0; rank < entries.size(); ++rank) {
    rank_of[entries[rank].id] = static_cast<uint32_t>(rank);
  }
  std::transform(ranks.begin(), ranks.end(), ranks.begin(),
                 [&](uint32_t id) { return rank_of[id]; });
  return ranks;
}

}  // namespace borescope::internal
