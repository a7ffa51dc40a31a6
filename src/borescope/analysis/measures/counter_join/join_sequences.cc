#include "borescope/analysis/measures/counter_join/join_sequences.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

namespace {

constexpr int32_t kPairScore = 10;
constexpr int32_t kRunScore = -3;
constexpr int32_t kImpossible = -1'000'000'000;

// What the best matching of two beginnings does with their last items. A matching that ends with
// the pair of both is kept beside it, because a run may go on there.
enum AlignStep : uint8_t {
  kTake = 1,         // pairs them
  kSkipCounted = 2,  // leaves out the last counted item; else the last traced one
  kContinue = 4,     // the matching that ends with their pair continues a run
};

// Steps of a table of cells, two in a byte.
class StepTable {
 public:
  StepTable(size_t rows, size_t columns)
      : row_bytes_((columns + 1) / 2), bytes_(rows * row_bytes_, 0) {}

  uint8_t* Row(size_t row) { return bytes_.data() + row * row_bytes_; }
  uint8_t At(size_t row, size_t column) const {
    return bytes_[row * row_bytes_ + column / 2] >> (column % 2 * 4) & 15;
  }

 private:
  size_t row_bytes_;
  std::vector<uint8_t> bytes_;
};

// Scores of matchings of the counted items so far with each beginning of the traced ones.
struct Scores {
  std::vector<int32_t> best;  // of any matching
  std::vector<int32_t> pair;  // of those that end with the pair of both last items
};

// One row of the table: `counted` is the next counted item.
void FillRow(const CountedItem& counted, std::span<const TracedItem> traced, Scores& scores,
             uint8_t* steps) {
  int32_t diagonal_best = 0;
  int32_t diagonal_pair = kImpossible;
  int32_t left = 0;
  for (size_t j = 0; j < traced.size(); ++j) {
    const int32_t above = scores.best[j];
    const int32_t above_pair = scores.pair[j];
    uint8_t step = above >= left ? kSkipCounted : 0;
    int32_t best = std::max(above, left);
    int32_t pair = kImpossible;
    if (counted.token == traced[j].token && PassesGate(counted, traced[j])) {
      const int32_t started = diagonal_best + kRunScore;
      step |= diagonal_pair >= started ? kContinue : 0;
      pair = kPairScore + std::max(diagonal_pair, started);
      step |= pair >= best ? kTake : 0;
      best = std::max(best, pair);
    }
    diagonal_best = above;
    diagonal_pair = above_pair;
    scores.best[j] = left = best;
    scores.pair[j] = pair;
    steps[j / 2] |= static_cast<uint8_t>(step << (j % 2 * 4));
  }
}

std::vector<ItemPair> FollowSteps(const StepTable& steps, size_t counted, size_t traced) {
  std::vector<ItemPair> pairs;
  bool must_take = false;  // the run that was entered goes on
  while (counted > 0 && traced > 0) {
    const uint8_t step = steps.At(counted - 1, traced - 1);
    if (must_take || (step & kTake) != 0) {
      pairs.push_back({static_cast<uint32_t>(--counted), static_cast<uint32_t>(--traced)});
      must_take = (step & kContinue) != 0;
    } else {
      --((step & kSkipCounted) != 0 ? counted : traced);
    }
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<ItemPair> AlignAll(std::span<const CountedItem> counted,
                               std::span<const TracedItem> traced) {
  StepTable steps(counted.size(), traced.size());
  Scores scores{std::vector<int32_t>(traced.size(), 0),
                std::vector<int32_t>(traced.size(), kImpossible)};
  for (size_t i = 0; i < counted.size(); ++i) {
    CheckStop();
    FillRow(counted[i], traced, scores, steps.Row(i));
  }
  return FollowSteps(steps, counted.size(), traced.size());
}

// The most pairs that keep the order of both sides: a longest increasing subsequence. REQUIRES:
// ascending by traced item.
std::vector<ItemPair> LongestInOrder(const std::vector<ItemPair>& pairs) {
  std::vector<size_t> ends;  // of the shortest-ending subsequence of each length
  std::vector<size_t> before(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto place = std::lower_bound(
        ends.begin(), ends.end(), pairs[i].counted,
        [&](size_t end, uint32_t counted) { return pairs[end].counted < counted; });
    before[i] = place == ends.begin() ? i : *std::prev(place);
    place == ends.end() ? ends.push_back(i) : void(*place = i);
  }
  std::vector<ItemPair> longest(ends.size());
  size_t at = ends.empty() ? 0 : ends.back();
  for (size_t length = ends.size(); length-- > 0; at = before[at]) {
    longest[length] = pairs[at];
  }
  return longest;
}

// Pairs of tokens that occur once on both sides.
std::vector<ItemPair> UniquePairs(std::span<const CountedItem> counted,
                                  std::span<const TracedItem> traced) {
  struct Places {
    uint32_t count = 0;
    uint32_t last = 0;
  };
  HashMap<uint32_t, Places> in_counted;
  HashMap<uint32_t, Places> in_traced;
  for (uint32_t i = 0; i < counted.size(); ++i) {
    Places& places = in_counted[counted[i].token];
    places = {places.count + 1, i};
  }
  for (uint32_t j = 0; j < traced.size(); ++j) {
    Places& places = in_traced[traced[j].token];
    places = {places.count + 1, j};
  }
  std::vector<ItemPair> pairs;
  for (uint32_t j = 0; j < traced.size(); ++j) {
    const auto place = in_counted.find(traced[j].token);
    if (in_traced[traced[j].token].count == 1 && place != in_counted.end() &&
        place->second.count == 1 && PassesGate(counted[place->second.last], traced[j])) {
      pairs.push_back({place->second.last, j});
    }
  }
  return pairs;
}

}  // namespace

bool PassesGate(const CountedItem& counted, const TracedItem& traced) {
  if (!counted.ns.has_value()) return true;
  const auto ns = static_cast<double>(traced.ns);
  return *counted.ns >= 0.5 * ns && *counted.ns <= 3 * ns + 4000;
}

std::vector<ItemPair> AlignItems(std::span<const CountedItem> counted,
                                 std::span<const TracedItem> traced, uint64_t most_cells) {
  struct Piece {
    size_t counted = 0, end_counted = 0, traced = 0, end_traced = 0;
  };
  std::vector<Piece> pieces = {{0, counted.size(), 0, traced.size()}};
  std::vector<ItemPair> pairs;
  // Pieces that are cut and cut again halve, or nearly: what cuts off one item after the other was
  // made to, and is left without pairs.
  constexpr uint64_t kMostCuts = 32;
  uint64_t to_scan = kMostCuts * (counted.size() + traced.size());
  while (!pieces.empty()) {
    const Piece piece = pieces.back();
    pieces.pop_back();
    const auto of_counted = counted.subspan(piece.counted, piece.end_counted - piece.counted);
    const auto of_traced = traced.subspan(piece.traced, piece.end_traced - piece.traced);
    if (of_counted.empty() || of_traced.empty()) continue;
    const bool is_small = of_counted.size() <= most_cells / of_traced.size();
    if (!is_small) {
      CheckStop();
      const uint64_t items = of_counted.size() + of_traced.size();
      if (items > to_scan) continue;
      to_scan -= items;
    }
    std::vector<ItemPair> found = is_small ? AlignAll(of_counted, of_traced)
                                           : LongestInOrder(UniquePairs(of_counted, of_traced));
    size_t next_counted = piece.counted;
    size_t next_traced = piece.traced;
    for (ItemPair& pair : found) {
      pair.counted += static_cast<uint32_t>(piece.counted);
      pair.traced += static_cast<uint32_t>(piece.traced);
      if (!is_small) pieces.push_back({next_counted, pair.counted, next_traced, pair.traced});
      next_counted = pair.counted + 1;
      next_traced = pair.traced + 1;
    }
    if (!is_small && !found.empty()) {
      pieces.push_back({next_counted, piece.end_counted, next_traced, piece.end_traced});
    }
    pairs.insert(pairs.end(), found.begin(), found.end());
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const ItemPair& a, const ItemPair& b) { return a.traced < b.traced; });
  return pairs;
}

std::string_view JoinSourceName(JoinSource source) {
  constexpr std::string_view kNames[kJoinSources] = {
      "recorded", "range", "order", "broadcast", "ambiguous", "other work", "none"};
  return kNames[static_cast<size_t>(source)];
}

namespace {

// What a key is on both sides.
struct KeyFacts {
  std::vector<uint32_t> counted;
  std::set<uint32_t> signatures;                              // in the trace, those that are known
  int64_t shortest_ns = std::numeric_limits<int64_t>::max();  // in the trace
  int64_t longest_ns = 0;
};

// Indices of items, and these items side by side.
template <class Item>
struct Some {
  std::vector<uint32_t> places;
  std::vector<Item> items;

  void Add(uint32_t place, const Item& item) {
    places.push_back(place);
    items.push_back(item);
  }
};

class Joiner {
 public:
  Joiner(std::span<const CountedItem> counted, std::span<const TracedItem> traced, bool has_shapes,
         uint64_t most_cells);

  SequenceJoin Join();

 private:
  std::vector<ItemPair> MatchSegments() const;
  std::vector<ItemPair> MatchStreams() const;
  std::vector<ItemPair> Match(const Some<CountedItem>& counted,
                              const Some<TracedItem>& traced) const;
  std::vector<size_t> RunLengths(std::span<const ItemPair> pairs) const;
  bool MayBeSwapped(const Some<TracedItem>& traced, const std::vector<bool>& is_matched,
                    std::span<const ItemPair> pairs, size_t i) const;
  bool IsKept(const CountedItem& counted, const TracedItem& traced, size_t run) const;
  int64_t TimeOf(std::span<const ItemPair> pairs) const;
  void SetPairs(std::vector<ItemPair> pairs);
  void SetOthers();
  uint32_t LikelySignature(const TracedItem& item) const;
  JoinedItem Without(uint32_t place, const std::vector<uint32_t>* same_work);
  std::vector<uint32_t> WithinGate(const KeyFacts& facts, const TracedItem& item) const;
  bool Agree(std::span<const uint32_t> candidates) const;
  JoinedItem Share(const TracedItem& item, uint32_t group);
  uint32_t GroupOf(std::span<const uint32_t> candidates);

  std::span<const CountedItem> counted_;
  std::span<const TracedItem> traced_;
  bool has_shapes_;
  uint64_t most_cells_;
  HashMap<uint32_t, KeyFacts> keys_;
  HashMap<uint32_t, uint32_t> counted_tokens_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> traced_tokens_;  // by segment and token
  bool has_repeated_key_ = false;                                    // among what was counted
  SequenceJoin join_;
  // Groups of several, and whether their items did the same amount of work.
  std::map<std::vector<uint32_t>, uint32_t> group_of_;
  std::vector<bool> agrees_;
};

Joiner::Joiner(std::span<const CountedItem> counted, std::span<const TracedItem> traced,
               bool has_shapes, uint64_t most_cells)
    : counted_(counted), traced_(traced), has_shapes_(has_shapes), most_cells_(most_cells) {
  for (uint32_t i = 0; i < counted.size(); ++i) {
    std::vector<uint32_t>& of_key = keys_[counted[i].key].counted;
    has_repeated_key_ |= !of_key.empty();
    of_key.push_back(i);
    ++counted_tokens_[counted[i].token];
  }
  for (const TracedItem& item : traced) {
    KeyFacts& facts = keys_[item.key];
    if (item.signature != kNoSignature) facts.signatures.insert(item.signature);
    facts.shortest_ns = std::min(facts.shortest_ns, item.ns);
    facts.longest_ns = std::max(facts.longest_ns, item.ns);
    ++traced_tokens_[{item.segment, item.token}];
  }
}

// How many pairs the run of each has.
std::vector<size_t> Joiner::RunLengths(std::span<const ItemPair> pairs) const {
  std::vector<size_t> lengths(pairs.size());
  for (size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    for (++end; end < pairs.size() && pairs[end].counted == pairs[end - 1].counted + 1 &&
                pairs[end].traced == pairs[end - 1].traced + 1;) {
      ++end;
    }
    std::fill(lengths.begin() + static_cast<ptrdiff_t>(begin),
              lengths.begin() + static_cast<ptrdiff_t>(end), end - begin);
  }
  return lengths;
}

// Whether between the neighbours of a pair there is a kernel without a pair that looks the same and
// does other work.
bool Joiner::MayBeSwapped(const Some<TracedItem>& traced, const std::vector<bool>& is_matched,
                          std::span<const ItemPair> pairs, size_t i) const {
  const TracedItem& item = traced.items[pairs[i].traced];
  const size_t begin = i == 0 ? 0 : pairs[i - 1].traced + 1;
  const size_t end = i + 1 == pairs.size() ? traced.items.size() : pairs[i + 1].traced;
  for (size_t j = begin; j < end; ++j) {
    const TracedItem& other = traced.items[j];
    if (!is_matched[j] && other.token == item.token && other.signature != item.signature) {
      return true;
    }
  }
  return false;
}

bool Joiner::IsKept(const CountedItem& counted, const TracedItem& traced, size_t run) const {
  constexpr size_t kLongRun = 3;
  if (!has_repeated_key_ && keys_.at(traced.key).signatures.size() > 1) return false;
  const bool is_unique = counted_tokens_.at(counted.token) == 1 &&
                         traced_tokens_.at({traced.segment, traced.token}) == 1;
  return run >= kLongRun || is_unique;
}

// The pairs that are kept of some items of one segment, as indices of all.
std::vector<ItemPair> Joiner::Match(const Some<CountedItem>& counted,
                                    const Some<TracedItem>& traced) const {
  const std::vector<ItemPair> pairs = AlignItems(counted.items, traced.items, most_cells_);
  const std::vector<size_t> runs = RunLengths(pairs);
  std::vector<bool> is_matched(traced.items.size());
  for (const ItemPair& pair : pairs) {
    is_matched[pair.traced] = true;
  }
  std::vector<ItemPair> kept;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const CountedItem& from = counted.items[pairs[i].counted];
    if (IsKept(from, traced.items[pairs[i].traced], runs[i]) &&
        !MayBeSwapped(traced, is_matched, pairs, i)) {
      kept.push_back({counted.places[pairs[i].counted], traced.places[pairs[i].traced]});
    }
  }
  return kept;
}

std::vector<ItemPair> Joiner::MatchSegments() const {
  Some<CountedItem> all;
  for (uint32_t i = 0; i < counted_.size(); ++i) {
    all.Add(i, counted_[i]);
  }
  std::map<uint32_t, Some<TracedItem>> segments;
  for (uint32_t j = 0; j < traced_.size(); ++j) {
    segments[traced_[j].segment].Add(j, traced_[j]);
  }
  std::vector<ItemPair> pairs;
  for (const auto& [number, segment] : segments) {
    const std::vector<ItemPair> found = Match(all, segment);
    pairs.insert(pairs.end(), found.begin(), found.end());
  }
  return pairs;
}

// The same for each stream alone, by its number; nothing where there is one stream.
std::vector<ItemPair> Joiner::MatchStreams() const {
  std::map<int64_t, Some<CountedItem>> streams;
  for (uint32_t i = 0; i < counted_.size(); ++i) {
    streams[counted_[i].stream].Add(i, counted_[i]);
  }
  std::map<std::pair<uint32_t, int64_t>, Some<TracedItem>> segments;
  for (uint32_t j = 0; j < traced_.size(); ++j) {
    segments[{traced_[j].segment, traced_[j].stream}].Add(j, traced_[j]);
  }
  std::vector<ItemPair> pairs;
  for (const auto& [place, segment] : segments) {
    const auto stream = streams.find(place.second);
    if (streams.size() == 1 || stream == streams.end()) continue;
    const std::vector<ItemPair> found = Match(stream->second, segment);
    pairs.insert(pairs.end(), found.begin(), found.end());
  }
  return pairs;
}

int64_t Joiner::TimeOf(std::span<const ItemPair> pairs) const {
  int64_t ns = 0;
  for (const ItemPair& pair : pairs) {
    ns += traced_[pair.traced].ns;
  }
  return ns;
}

void Joiner::SetPairs(std::vector<ItemPair> pairs) {
  std::sort(pairs.begin(), pairs.end(),
            [](const ItemPair& a, const ItemPair& b) { return a.traced < b.traced; });
  for (const ItemPair& pair : pairs) {
    const bool is_labelled = traced_[pair.traced].is_labelled;
    join_.items[pair.traced] = {is_labelled ? JoinSource::kRange : JoinSource::kOrder,
                                GroupOf(std::span(&pair.counted, 1))};
  }
  join_.pairs = std::move(pairs);
}

// REQUIRES: ascending.
uint32_t Joiner::GroupOf(std::span<const uint32_t> candidates) {
  const auto [place, is_new] =
      group_of_.try_emplace(std::vector<uint32_t>(candidates.begin(), candidates.end()),
                            static_cast<uint32_t>(join_.groups.size()));
  if (is_new) {
    join_.groups.push_back(place->first);
    agrees_.push_back(Agree(place->first));
  }
  return place->second;
}

// Whether the candidates did the same amount of work, as far as that was counted.
bool Joiner::Agree(std::span<const uint32_t> candidates) const {
  constexpr double kMostDifference = 0.02;
  for (const auto flops : {&CountedItem::tensor_flops, &CountedItem::vector_flops}) {
    double least = 0;
    double most = 0;
    bool is_first = true;
    for (const uint32_t i : candidates) {
      if (!(counted_[i].*flops).has_value()) continue;
      least = is_first ? *(counted_[i].*flops) : std::min(least, *(counted_[i].*flops));
      most = is_first ? *(counted_[i].*flops) : std::max(most, *(counted_[i].*flops));
      is_first = false;
    }
    if (most - least > kMostDifference * most) return false;
  }
  return true;
}

// The counted items of a key that pass the gate.
std::vector<uint32_t> Joiner::WithinGate(const KeyFacts& facts, const TracedItem& item) const {
  std::vector<uint32_t> within;
  std::copy_if(facts.counted.begin(), facts.counted.end(), std::back_inserter(within),
               [&](uint32_t i) { return PassesGate(counted_[i], item); });
  return within;
}

// An item that may take the values of a group, unless its work is not known to be the same.
JoinedItem Joiner::Share(const TracedItem& item, uint32_t group) {
  constexpr double kMostRatio = 1.3;
  constexpr double kMostBeyondNs = 2000;
  const KeyFacts& facts = keys_.at(item.key);
  const bool times_differ = static_cast<double>(facts.longest_ns) >
                            kMostRatio * static_cast<double>(facts.shortest_ns) + kMostBeyondNs;
  if ((!has_shapes_ && times_differ) || !agrees_[group]) return {JoinSource::kAmbiguous, kNoGroup};
  return {JoinSource::kBroadcast, group};
}

JoinedItem Joiner::Without(uint32_t place, const std::vector<uint32_t>* same_work) {
  const TracedItem& item = traced_[place];
  if (same_work != nullptr) return Share(item, GroupOf(*same_work));
  const KeyFacts& facts = keys_.at(item.key);
  if (facts.counted.empty()) return {};
  const std::vector<uint32_t> within = WithinGate(facts, item);
  if (within.empty()) return {JoinSource::kOtherWork, kNoGroup};
  if (facts.signatures.size() > 1) return {JoinSource::kAmbiguous, kNoGroup};
  return Share(item, GroupOf(within));
}

// Of unknown work, that of its key, if there is one alone.
uint32_t Joiner::LikelySignature(const TracedItem& item) const {
  const std::set<uint32_t>& signatures = keys_.at(item.key).signatures;
  const bool is_unknown = item.signature == kNoSignature && signatures.size() == 1;
  return is_unknown ? *signatures.begin() : item.signature;
}

// What is known of the items without a pair.
void Joiner::SetOthers() {
  std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> found;  // by key and signature
  std::vector<bool> is_matched(traced_.size());
  for (const ItemPair& pair : join_.pairs) {
    const TracedItem& item = traced_[pair.traced];
    found[{item.key, item.signature}].insert(pair.counted);
    is_matched[pair.traced] = true;
  }
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> same_work;
  for (const auto& [work, items] : found) {
    same_work[work] = {items.begin(), items.end()};
  }
  for (uint32_t j = 0; j < traced_.size(); ++j) {
    CheckStopAt(j);
    if (is_matched[j]) continue;
    const auto same = same_work.find({traced_[j].key, LikelySignature(traced_[j])});
    join_.items[j] = Without(j, same == same_work.end() ? nullptr : &same->second);
  }
}

SequenceJoin Joiner::Join() {
  constexpr double kEnoughMatched = 0.8;
  join_.items.resize(traced_.size());
  std::vector<ItemPair> pairs = MatchSegments();
  double all_ns = 0;
  for (const TracedItem& item : traced_) {
    all_ns += static_cast<double>(item.ns);
  }
  if (static_cast<double>(TimeOf(pairs)) < kEnoughMatched * all_ns) {
    std::vector<ItemPair> by_stream = MatchStreams();
    if (TimeOf(by_stream) > TimeOf(pairs)) pairs = std::move(by_stream);
  }
  SetPairs(std::move(pairs));
  SetOthers();
  return std::move(join_);
}

}  // namespace

SequenceJoin JoinSequences(std::span<const CountedItem> counted, std::span<const TracedItem> traced,
                           bool has_shapes, uint64_t most_cells) {
  return Joiner(counted, traced, has_shapes, most_cells).Join();
}

}  // namespace borescope::internal
