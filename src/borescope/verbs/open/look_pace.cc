#include "borescope/verbs/open/look_pace.h"

#include <algorithm>
#include <cmath>

namespace borescope::internal {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kInverseShare = 5;       // of one processor
constexpr double kLongestPauseS = 86400;  // so that no sum of pauses overflows

double RootOf(LookPace::Clock::duration cost) {
  return std::sqrt(std::max(0.0, Seconds(cost).count()));
}

}  // namespace

void LookPace::Add(const std::string& name) { turns_.try_emplace(name); }

void LookPace::Remove(const std::string& name) {
  if (const auto found = turns_.find(name); found != turns_.end()) {
    found->second.is_over = true;
    found->second.cost = Clock::duration(0);
  }
}

double LookPace::SumOfRoots() const {
  double sum = 0;
  for (const auto& [name, turn] : turns_) {
    sum += RootOf(turn.cost.value_or(Clock::duration(0)));
  }
  return sum;
}

LookPace::Clock::duration LookPace::PauseOf(const Turn& turn, double sum_of_roots) {
  const double pause =
      kInverseShare * RootOf(turn.cost.value_or(Clock::duration(0))) * sum_of_roots;
  return std::max(kLeastPause, std::chrono::duration_cast<Clock::duration>(
                                   Seconds(std::min(pause, kLongestPauseS))));
}

LookPace::Clock::duration LookPace::PauseOf(const std::string& name) const {
  const auto found = turns_.find(name);
  return found == turns_.end() ? kLeastPause : PauseOf(found->second, SumOfRoots());
}

std::optional<std::string> LookPace::Begin(Clock::time_point now) {
  const bool is_dear_running = std::any_of(turns_.begin(), turns_.end(), [](const auto& turn) {
    return turn.second.is_running && IsDear(turn.second);
  });
  const double sum_of_roots = SumOfRoots();
  auto chosen = turns_.end();
  Clock::time_point chosen_due;
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    const Turn& one = turn->second;
    if (one.is_running || one.is_over || (is_dear_running && IsDear(one))) continue;
    const Clock::time_point due =
        one.begin == Clock::time_point::min() ? one.begin : one.begin + PauseOf(one, sum_of_roots);
    if (due <= now && (chosen == turns_.end() || due < chosen_due)) {
      chosen = turn;
      chosen_due = due;
    }
  }
  if (chosen == turns_.end()) {
    return std::nullopt;
  }
  chosen->second.is_running = true;
  chosen->second.begin = now;
  return chosen->first;
}

void LookPace::End(const std::string& name, Clock::time_point now) {
  Turn& turn = turns_.at(name);
  turn.is_running = false;
  turn.cost = turn.is_over ? Clock::duration(0) : now - turn.begin;
}

}  // namespace borescope::internal
