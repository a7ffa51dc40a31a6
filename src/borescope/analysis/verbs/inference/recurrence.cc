#include "borescope/analysis/verbs/inference/recurrence.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kLeastOccurrences = 3;
constexpr size_t kAllowedPart = 10;     // of a pass, one part in so many may differ
constexpr size_t kMostCandidates = 64;  // those with the fewest occurrences

using Symbols = std::span<const uint32_t>;

// The first place of each symbol, and all of them.
struct Occurrences {
  uint32_t symbol = 0;
  bool is_preferred = false;
  std::vector<uint32_t> places;
};

std::vector<Occurrences> CandidatesOf(Symbols symbols, std::span<const char> preferred) {
  std::map<uint32_t, uint32_t> number_of;  // of a symbol, in order of its first place
  std::vector<Occurrences> all;
  for (uint32_t place = 0; place < symbols.size(); ++place) {
    CheckStopAt(place);
    const uint32_t symbol = symbols[place];
    const auto [at, is_new] = number_of.try_emplace(symbol, static_cast<uint32_t>(all.size()));
    if (is_new) {
      all.push_back({symbol, symbol < preferred.size() && preferred[symbol] != 0, {}});
    }
    all[at->second].places.push_back(place);
  }
  std::erase_if(all, [](const Occurrences& o) { return o.places.size() < kLeastOccurrences; });
  std::stable_sort(all.begin(), all.end(), [](const Occurrences& a, const Occurrences& b) {
    return std::tuple(a.places.size(), !a.is_preferred) <
           std::tuple(b.places.size(), !b.is_preferred);
  });
  all.resize(std::min(all.size(), kMostCandidates));
  return all;
}

bool IsLess(Symbols a, Symbols b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

bool AreEqual(Symbols a, Symbols b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// The content that most passes have, the first of equal ones; without two alike the first of median
// length. REQUIRES: there is a pass.
Symbols UsualOf(const std::vector<Symbols>& passes) {
  std::vector<uint32_t> order(passes.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return passes[a].size() != passes[b].size() ? passes[a].size() < passes[b].size()
                                                : IsLess(passes[a], passes[b]);
  });
  uint32_t best = order.front();
  size_t most = 0;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && AreEqual(passes[order[begin]], passes[order[end]]);
         ++end) {
    }
    // Within equal ones the order is that of the passes.
    if (std::tuple(end - begin, order.size() - order[begin]) >
        std::tuple(most, order.size() - best)) {
      most = end - begin;
      best = order[begin];
    }
  }
  if (most > 1) {
    return passes[best];
  }
  const size_t median = passes[order[(order.size() - 1) / 2]].size();
  return *std::find_if(passes.begin(), passes.end(),
                       [median](Symbols pass) { return pass.size() == median; });
}

// What cutting at these places gives, if it is a candidate.
std::optional<Recurrence> CutAt(Symbols symbols, const std::vector<uint32_t>& places) {
  std::vector<Symbols> passes;
  passes.reserve(places.size());
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    passes.push_back(symbols.subspan(places[i], places[i + 1] - places[i]));
  }
  const Symbols usual = UsualOf(passes);
  const Symbols last = symbols.subspan(places.back());
  passes.push_back(last.first(std::min(last.size(), usual.size())));
  const size_t most = (usual.size() + kAllowedPart - 1) / kAllowedPart;
  Recurrence found{places, std::vector<char>(passes.size()), usual.size()};
  size_t alike = 0;
  size_t covered = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    CheckStop();
    const Symbols pass = passes[i];
    const size_t difference =
        std::max(pass.size(), usual.size()) - std::min(pass.size(), usual.size());
    found.is_alike[i] =
        difference <= most && (AreEqual(pass, usual) || EditDistance(pass, usual, most) <= most)
            ? 1
            : 0;
    alike += found.is_alike[i] != 0 ? 1 : 0;
    covered += found.is_alike[i] != 0 ? pass.size() : 0;
  }
  return alike >= 2 && covered * 2 >= symbols.size() ? std::optional(std::move(found))
                                                     : std::nullopt;
}

}  // namespace

size_t Recurrence::unlike() const {
  return static_cast<size_t>(std::count(is_alike.begin(), is_alike.end(), 0));
}

// Myers' greedy search: per diagonal the farthest place that so many edits reach.
size_t EditDistance(Symbols a, Symbols b, size_t most) {
  const auto length_a = static_cast<int64_t>(a.size());
  const auto length_b = static_cast<int64_t>(b.size());
  const auto limit = static_cast<int64_t>(std::min(most, a.size() + b.size()));
  std::vector<int64_t> farthest(static_cast<size_t>(2 * limit + 3), 0);
  const auto at = [&](int64_t diagonal) -> int64_t& {
    return farthest[static_cast<size_t>(diagonal + limit + 1)];
  };
  for (int64_t edits = 0; edits <= limit; ++edits) {
    for (int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const bool is_insertion =
          diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
      int64_t x = is_insertion ? at(diagonal + 1) : at(diagonal - 1) + 1;
      int64_t y = x - diagonal;
      while (x < length_a && y < length_b &&
             a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)]) {
        ++x;
        ++y;
      }
      at(diagonal) = x;
      if (x >= length_a && y >= length_b) {
        return static_cast<size_t>(edits);
      }
    }
  }
  return most + 1;
}

std::optional<Recurrence> FindRecurrence(Symbols symbols, std::span<const char> preferred) {
  std::optional<Recurrence> best;
  for (const Occurrences& candidate : CandidatesOf(symbols, preferred)) {
    const size_t count = candidate.places.size();
    const bool is_more = best.has_value() && count * 2 >= best->begins.size() * 3;
    if (best.has_value() && !is_more) {
      continue;
    }
    std::optional<Recurrence> found = CutAt(symbols, candidate.places);
    if (found.has_value() && (!best.has_value() || found->unlike() <= best->unlike())) {
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace borescope::internal
