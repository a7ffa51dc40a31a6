#include "borescope/analysis/measures/matching/match_calls.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "borescope/analysis/core/row.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {
namespace {

int64_t ValueOr(const Column& column, size_t row, int64_t otherwise) {
  return column.IsMissing(row) ? otherwise : std::get<IntValues>(column.values)[row];
}

using Content = std::tuple<std::string_view, std::string_view, int64_t, int64_t, std::string_view,
                           std::string_view, std::string_view, std::string_view, int64_t, int64_t>;

// Kernel and site differ between ranks where a collective is chosen or wrapped differently, which
// only matters where nothing better distinguishes calls.
Content ContentOf(const Table& table, size_t row) {
  const bool by_sequence = Ints(table, "by_sequence")[row] != 0;
  const auto text = [&](std::string_view column) {
    return by_sequence ? std::string_view() : std::string_view(Texts(table, column)[row]);
  };
  return {Texts(table, "group")[row],
          Texts(table, "members")[row],
          ValueOr(*table.Find("group_size"), row, kMissing),
          ValueOr(*table.Find("lane"), row, kMissing),
          Texts(table, "collective")[row],
          text("kernel"),
          text("site"),
          text("dtype"),
          ValueOr(*table.Find("elems"), row, kMissing),
          Ints(table, "by_sequence")[row]};
}

// What of it names the process group.
auto GroupContent(const Content& content) {
  return std::tuple(std::get<0>(content), std::get<1>(content), std::get<2>(content),
                    std::get<3>(content));
}

using Call = MatchedCall;

// The calls as recorded, in any order.
std::vector<Call> ReadCalls(const Table& table, const CollectiveKeys& keys,
                            const RankPlaces& score_of) {
  const IntValues& rank = Ints(table, "rank");
  const IntValues& key = Ints(table, "key");
  const IntValues& position = Ints(table, "position");
  const IntValues& count = Ints(table, "count");
  const IntValues& dur = Ints(table, "dur_ns");
  const IntValues& begin = Ints(table, "begin_ns");
  const IntValues& end = Ints(table, "end_ns");
  const Column& bytes = *table.Find("bytes");
  const Column& step = *table.Find("step");
  std::vector<Call> calls;
  calls.reserve(table.rows());
  for (size_t row = 0; row < table.rows(); ++row) {
    const uint32_t key_row = keys.RowOf(rank[row], key[row]);
    calls.push_back({keys.Number(key_row), key_row, score_of.at(rank[row]),
                     ValueOr(step, row, kMissing), position[row], count[row], dur[row], begin[row],
                     end[row], ValueOr(bytes, row, kMissing), static_cast<uint32_t>(row)});
  }
  return calls;
}

void Join(const Call& call, Call& joined) {
  AddSaturatingTo(joined.dur_ns, call.dur_ns);
  if (call.begin_ns < joined.begin_ns) {
    joined.begin_ns = call.begin_ns;
    joined.row = call.row;
  }
  joined.end_ns = std::max(joined.end_ns, call.end_ns);
  joined.bytes = joined.bytes == kMissing || call.bytes == kMissing
                     ? kMissing
                     : AddSaturating(joined.bytes, call.bytes);
}

// Two calls that are counted together, if of one rank: from the start or from the end.
bool AreInOnePlace(const CollectiveKeys& keys, const Call& a, const Call& b) {
  return a.key == b.key && (a.step == b.step || keys.BySequence(a.key)) &&
         (a.position < 0) == (b.position < 0);
}

template <class Predicate>  // of the first call and another
size_t RunLength(std::span<const Call> calls, Predicate belongs) {
  size_t length = 1;
  while (length < calls.size() && belongs(calls[0], calls[length])) {
    ++length;
  }
  return length;
}

// More ranks than the group has: several groups share one name, and which is which is unknown.
bool IsMatched(std::span<const Call> calls, const CollectiveKeys& keys) {
  const int64_t group_size = keys.GroupSize(calls.front().key);
  const auto count = static_cast<int64_t>(calls.size());
  return count > 1 && (group_size == kMissing || count <= group_size);
}

void UsePlace(std::span<const Call> calls, const CollectiveKeys& keys, const UseCollective& use) {
  const bool is_certain = std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
    return call.count == calls.front().count;
  });
  while (!calls.empty()) {
    const size_t length =
        RunLength(calls, [](const Call& a, const Call& b) { return a.position == b.position; });
    const std::span<const Call> collective = calls.first(length);
    use(collective, is_certain && IsMatched(collective, keys));
    calls = calls.subspan(length);
  }
}

}  // namespace

CollectiveKeys::CollectiveKeys(const Table& table) : table_(table) {
  const IntValues& rank = Ints(table, "rank");
  std::map<Content, uint32_t> numbers;
  std::map<decltype(GroupContent(Content())), uint32_t> groups;
  for (size_t row = 0; row < table.rows(); ++row) {
    first_row_.try_emplace(rank[row], row);
    const Content content = ContentOf(table, row);
    const auto next = static_cast<uint32_t>(row_of_.size());
    const auto [at, is_new] = numbers.try_emplace(content, next);
    if (is_new) {
      row_of_.push_back(row);
      by_sequence_.push_back(Ints(table, "by_sequence")[row] != 0 ? 1 : 0);
      const auto next_group = static_cast<uint32_t>(groups.size());
      group_of_.push_back(groups.try_emplace(GroupContent(content), next_group).first->second);
    }
    number_.push_back(at->second);
  }
}

int64_t CollectiveKeys::GroupSize(uint32_t number) const {
  return ValueOr(*table_.Find("group_size"), row_of_[number], kMissing);
}

const std::string& CollectiveKeys::Text(uint32_t row, std::string_view column) const {
  return Texts(table_, column)[row];
}

RankPlaces PlacesOfRanks(const Table& ranks) {
  RankPlaces places;
  for (const int64_t rank : Ints(ranks, "rank")) {
    places.emplace(rank, static_cast<uint32_t>(places.size()));
  }
  return places;
}

std::vector<Call> SortedCalls(const Table& table, const CollectiveKeys& keys,
                              const RankPlaces& places) {
  std::vector<Call> calls = ReadCalls(table, keys, places);
  const auto order = [&](const Call& call) {
    return std::tuple(call.key, keys.BySequence(call.key) ? 0 : call.step, call.position,
                      call.score);
  };
  std::stable_sort(calls.begin(), calls.end(),
                   [&](const Call& a, const Call& b) { return order(a) < order(b); });
  size_t last = 0;
  for (size_t i = 1; i < calls.size(); ++i) {
    if (order(calls[i]) == order(calls[last])) {
      Join(calls[i], calls[last]);
    } else {
      calls[++last] = calls[i];
    }
  }
  calls.resize(std::min(calls.size(), last + 1));
  return calls;
}

void ForEachCollective(std::span<const Call> sorted, const CollectiveKeys& keys,
                       const UseCollective& use) {
  while (!sorted.empty()) {
    const size_t length =
        RunLength(sorted, [&](const Call& a, const Call& b) { return AreInOnePlace(keys, a, b); });
    UsePlace(sorted.first(length), keys, use);
    sorted = sorted.subspan(length);
  }
}

}  // namespace borescope::internal
