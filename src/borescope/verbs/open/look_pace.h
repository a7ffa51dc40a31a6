// How often each of several things is looked at, where looks cost time: a dear one takes no turn of
// those that cost little.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace borescope::internal {

// Whose turn it is to be looked at, for threads that look at different things at the same time. All
// looks together take a fifth of the time of one processor at most, whatever they cost: with costs
// c of looks and pauses p between their begins, p = 5 sqrt(c) (sum of all sqrt(c)), so that the sum
// of c / p is a fifth; a second at least. This is the choice of pauses with the least mean age of
// what was seen last (the method of Lagrange, of the sum of p where the sum of c / p is given). One
// dear look at a time, so that with two threads what costs little never waits for a dear one. Not
// thread-safe.
class LookPace {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr Clock::duration kLeastPause = std::chrono::seconds(1);
  // What took longer the last time is dear, as is what was not looked at yet.
  static constexpr Clock::duration kDear = std::chrono::milliseconds(100);

  // Adds what is to be looked at; once is enough.
  void Add(const std::string& name);
  // No more looks at it; one that runs is ended all the same.
  void Remove(const std::string& name);

  // Begins the look that is due for longest at `now`; nothing where none is due that may begin.
  std::optional<std::string> Begin(Clock::time_point now);
  // REQUIRES: it has begun.
  void End(const std::string& name, Clock::time_point now);

  // From the begin of one look to the next; kLeastPause for what was not looked at yet.
  Clock::duration PauseOf(const std::string& name) const;

 private:
  struct Turn {
    Clock::time_point begin = Clock::time_point::min();  // of the last look
    std::optional<Clock::duration> cost = {};            // of the last one; none: unknown
    bool is_running = false;
    bool is_over = false;  // no more looks
  };

  static bool IsDear(const Turn& turn) { return !turn.cost.has_value() || *turn.cost > kDear; }
  static Clock::duration PauseOf(const Turn& turn, double sum_of_roots);
  double SumOfRoots() const;  // of what looks cost, in seconds

  std::map<std::string, Turn> turns_;
};

}  // namespace borescope::internal
