#include "borescope/postmortem/failures.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "borescope/base/text/text.h"

namespace borescope::internal {
namespace {

Ending EndingOf(const JobEvent& event) {
  switch (event.kind) {
    case LogKind::kOutOfMemory:
      return Ending::kOutOfMemory;
    case LogKind::kKilled:
      return Ending::kHostMemory;
    case LogKind::kException:
      return Ending::kException;
    case LogKind::kNoStart:
      return Ending::kNotStarted;
    case LogKind::kFatal:
    case LogKind::kTaskFailed:
      return Ending::kSignal;
    default:
      return event.exit_code.value_or(0) < 0 ? Ending::kSignal : Ending::kExit;
  }
}

std::string TypeOf(const std::string& text) { return text.substr(0, text.find(':')); }

// Whose order in its file is that in which things happened.
bool IsInOrder(const JobEvent& event) { return event.line > 0 && !event.is_listed; }

// ---- which of two came first ----

bool IsNamedFirst(const Death& death) {
  return std::any_of(death.events.begin(), death.events.end(),
                     [](const JobEvent* event) { return event->is_named_first; });
}

// `is_least`: whether the earlier one may have been later than its time.
FailureOrder ByTimes(int64_t later_ns, bool is_one_clock, bool is_least) {
  const int64_t apart_ns = later_ns < 0 ? -later_ns : later_ns;
  const bool is_shown = apart_ns > 0 && !is_least && (is_one_clock || apart_ns > kSameMomentNs);
  return {.basis = is_shown       ? OrderBasis::kTimes
                   : apart_ns > 0 ? OrderBasis::kNear
                                  : OrderBasis::kNone,
          .is_first_earlier = later_ns > 0,
          .apart_ns = apart_ns};
}

// Times without their zone: those of one file are of one clock. Zones differ by a quarter of an
// hour at least, so that times of two files that are less apart are taken for those of one zone.
FailureOrder ByLocalTimes(const Death& a, const Death& b) {
  constexpr int64_t kZoneNs = 900 * kSecondNs;
  FailureOrder best;
  for (const JobEvent* const one : a.events) {
    for (const JobEvent* const other : b.events) {
      const bool is_one_file = one->file == other->file;
      if (one->year_ns == 0 || other->year_ns == 0 || best.basis == OrderBasis::kTimes) {
        continue;
      }
      const int64_t later_ns = YearNsBetween(one->year_ns, other->year_ns);
      if (is_one_file || (later_ns < kZoneNs && later_ns > -kZoneNs)) {
        best = ByTimes(later_ns, is_one_file,
                       later_ns > 0 ? one->is_time_least : other->is_time_least);
      }
    }
  }
  return best;
}

// The first lines of both in a log that has both.
FailureOrder ByLines(const Death& a, const Death& b) {
  const auto are_ordered = [](const JobEvent& one, const JobEvent& other) {
    return IsInOrder(one) && IsInOrder(other) && one.file == other.file && one.line != other.line;
  };
  if (are_ordered(*a.event, *b.event)) {
    return {.basis = OrderBasis::kLog, .is_first_earlier = a.event->line < b.event->line};
  }
  for (const JobEvent* const one : a.events) {
    for (const JobEvent* const other : b.events) {
      if (are_ordered(*one, *other)) {
        return {.basis = OrderBasis::kLog, .is_first_earlier = one->line < other->line};
      }
    }
  }
  return {};
}

FailureOrder OrderOfDeaths(const Death& a, const Death& b) {
  FailureOrder near;
  if (a.unix_ns != 0 && b.unix_ns != 0) {
    const FailureOrder order = ByTimes(b.unix_ns - a.unix_ns, a.event->file == b.event->file,
                                       a.unix_ns < b.unix_ns ? a.is_time_least : b.is_time_least);
    if (order.basis == OrderBasis::kTimes) {
      return order;
    }
    near = order;
  }
  const FailureOrder local = ByLocalTimes(a, b);
  if (local.basis == OrderBasis::kTimes) {
    return local;
  }
  if (near.basis == OrderBasis::kNone) {
    near = local;
  }
  if (IsNamedFirst(a) != IsNamedFirst(b)) {
    return {.basis = OrderBasis::kLauncher, .is_first_earlier = IsNamedFirst(a)};
  }
  const FailureOrder order = ByLines(a, b);
  return order.basis != OrderBasis::kNone ? order : near;
}

bool IsEarlier(const Death& a, const Death& b) {
  const FailureOrder order = OrderOfDeaths(a, b);
  return order.basis != OrderBasis::kNone && order.is_first_earlier;
}

// ---- deaths ----

class DeathFinder {
 public:
  explicit DeathFinder(std::span<const JobEvent> events) : events_(events) {
    for (const JobEvent& event : events_) {
      if (event.kind == LogKind::kTimeout && event.rank.has_value()) gave_up_.insert(*event.rank);
      is_any_killed_ =
          is_any_killed_ || (event.kind == LogKind::kKilled && !event.rank.has_value());
    }
  }

  std::vector<Death> Find() {
    Collect(false);
    // A status says that something failed, and nothing says what: then it was one of these.
    const bool is_any = std::any_of(deaths_.begin(), deaths_.end(), [](const Death& death) {
      return death.rank.has_value() || death.event->kind != LogKind::kExit;
    });
    const bool is_only_codes = std::all_of(deaths_.begin(), deaths_.end(), [](const Death& death) {
      return death.event->kind == LogKind::kExit;
    });
    const bool has_no_start =
        std::any_of(events_.begin(), events_.end(),
                    [](const JobEvent& event) { return event.kind == LogKind::kNoStart; });
    if ((!is_any || (is_only_codes && has_no_start)) && HasFailedStatus()) {
      deaths_.clear();
      only_starts_ = is_any;
      Collect(true);
    }
    return std::move(deaths_);
  }

 private:
  // Whether a status says that a process failed in a way that only its log can explain.
  bool HasFailedStatus() const {
    const auto is_status = [](const JobEvent& event) {
      return !event.is_consequence &&
             ((event.kind == LogKind::kTaskFailed && Contains(event.text, "Exited with")) ||
              (event.kind == LogKind::kExit && event.exit_code.value_or(0) > 0));
    };
    const auto is_reason = [](const JobEvent& event) {
      return event.kind == LogKind::kKilled || event.kind == LogKind::kCancelled;
    };
    return std::any_of(events_.begin(), events_.end(), is_status) &&
           std::none_of(events_.begin(), events_.end(), is_reason);
  }

  // A watchdog that gave up ends its process itself.
  bool IsOwn(const JobEvent& event) const {
    constexpr int kAborted = -6;
    const bool is_watchdog = event.kind == LogKind::kExit && event.exit_code == kAborted &&
                             event.rank.has_value() && gave_up_.contains(*event.rank);
    return EndsProcess(event) && !event.is_consequence && !is_watchdog;
  }

  void Collect(bool with_outlived) {
    std::map<std::optional<int32_t>, std::vector<const JobEvent*>> by_rank;
    std::map<int32_t, const JobEvent*> outlived;
    for (const JobEvent& event : events_) {
      if (!IsOwn(event)) {
        continue;
      }
      const bool is_left_out = !with_outlived || (only_starts_ && event.kind != LogKind::kNoStart);
      if (event.is_no_end && is_left_out) {
        if (event.rank.has_value()) outlived[*event.rank] = &event;
        continue;
      }
      by_rank[event.rank].push_back(&event);
    }
    std::set<std::string> named;
    for (const auto& [rank, events] : by_rank) {
      if (!rank.has_value()) {
        continue;
      }
      Death death = DeathOf(*rank, events);
      const auto found = outlived.find(*rank);
      if (death.ending == Ending::kExit && found != outlived.end()) {
        death.outlived = found->second;
      }
      deaths_.push_back(std::move(death));
      for (const JobEvent* const event : events) {
        named.insert(event->text);
      }
    }
    AddWithoutRank(by_rank[std::nullopt], named);
    JoinStatuses();
  }

  // An exit code of a rank says nothing by itself: the exceptions of nobody in particular say why.
  void JoinStatuses() {
    const auto is_status = [](const Death& death) {
      return death.rank.has_value() && death.ending == Ending::kExit;
    };
    const auto is_nameless = [](const Death& death) {
      return !death.rank.has_value() &&
             (death.ending == Ending::kException || death.ending == Ending::kOutOfMemory ||
              death.ending == Ending::kNotStarted);
    };
    std::vector<Death> statuses;
    std::copy_if(deaths_.begin(), deaths_.end(), std::back_inserter(statuses), is_status);
    const auto nameless =
        static_cast<size_t>(std::count_if(deaths_.begin(), deaths_.end(), is_nameless));
    if (statuses.empty() || nameless == 0) {
      return;
    }
    std::erase_if(deaths_, is_status);
    const auto first = std::find_if(statuses.begin(), statuses.end(), IsNamedFirst);
    const auto cause =
        std::min_element(deaths_.begin(), deaths_.end(), [&](const Death& a, const Death& b) {
          return is_nameless(a) != is_nameless(b) ? is_nameless(a) : IsEarlier(a, b);
        });
    if (statuses.size() == 1 && nameless == 1) {
      cause->rank = statuses.front().rank;
      cause->exit_code = statuses.front().exit_code;
      const std::vector<const JobEvent*>& events = statuses.front().events;
      cause->events.insert(cause->events.end(), events.begin(), events.end());
      return;
    }
    cause->statuses = statuses.size();
    cause->status = first != statuses.end() ? first->event : nullptr;
  }

  // Of lines without a rank those that no rank has. An exit code and an abort of nobody in
  // particular say nothing where anything else is known; nor does a shell that names the signal
  // of a crash that the process itself reported.
  void AddWithoutRank(std::span<const JobEvent* const> events, std::set<std::string>& named) {
    const auto is_code = [](const JobEvent& event) {
      return (event.kind == LogKind::kExit && event.exit_code.value_or(0) > 0) || IsAbort(event);
    };
    const auto is_known = [&](const JobEvent& event) {
      return event.is_of_shell &&
             std::any_of(deaths_.begin(), deaths_.end(),
                         [](const Death& death) { return death.event->kind == LogKind::kFatal; });
    };
    for (const bool is_last : {false, true}) {
      const bool is_any = !deaths_.empty();
      for (const JobEvent* const event : events) {
        if (is_code(*event) != is_last || (is_last && is_any) || is_known(*event) ||
            !named.insert(event->text).second) {
          continue;
        }
        Death death;
        death.ending = EndingOf(*event);
        death.event = event;
        death.events = {event};
        death.exit_code = event->exit_code;
        if (death.exit_code == kKilledSignal && is_any_killed_) death.ending = Ending::kHostMemory;
        death.unix_ns = event->unix_ns;
        death.is_time_least = event->is_time_least;
        death.outlived = event->is_no_end ? event : nullptr;
        deaths_.push_back(std::move(death));
      }
    }
  }

  // The most telling event of a rank; of exceptions the last one.
  Death DeathOf(int32_t rank, const std::vector<const JobEvent*>& events) const {
    Death death;
    death.rank = rank;
    constexpr size_t kMostKept = 32;  // of each kind: they are compared with those of others
    size_t exits = 0;
    for (const JobEvent* const event : events) {
      const bool is_exit = event->kind == LogKind::kExit;
      exits += is_exit ? 1 : 0;
      if ((is_exit ? exits : death.events.size() + 1 - exits) <= kMostKept) {
        death.events.push_back(event);
      }
      const Ending ending = EndingOf(*event);
      if (death.event == nullptr || ending <= death.ending) {
        death.ending = ending;
        death.event = event;
      }
      if (event->kind == LogKind::kExit) {
        death.exit_code = event->exit_code;
      }
      // A place on some node need not be the rank.
      const bool is_sure_exit = is_exit && event->basis != LogRankBasis::kLocal;
      death.is_certain = death.is_certain || is_sure_exit || event->line == 0 ||
                         event->kind == LogKind::kFatal || event->kind == LogKind::kKilled;
      if (event->unix_ns != 0 && (death.unix_ns == 0 || event->unix_ns < death.unix_ns)) {
        death.unix_ns = event->unix_ns;
        death.is_time_least = event->is_time_least;
      }
    }
    if (death.ending == Ending::kSignal && death.exit_code == kKilledSignal && is_any_killed_) {
      death.ending = Ending::kHostMemory;
      death.is_certain = false;  // the kernel's number of the process is not the container's
    }
    return death;
  }

  static constexpr int kKilledSignal = -9;

  std::span<const JobEvent> events_;
  std::set<int32_t> gave_up_;
  bool is_any_killed_ = false;
  bool only_starts_ = false;  // of what ended nothing by itself only kNoStart counts
  std::vector<Death> deaths_;
};

// Deaths that are alike are one failure: but not two texts at two times.
std::vector<Failure> GroupAlike(std::vector<Death> deaths) {
  constexpr size_t kMostApart = 8;
  std::vector<Failure> failures;
  std::map<std::tuple<Ending, std::string, std::string, bool, bool>, std::vector<size_t>> places;
  for (Death& death : deaths) {
    // Exit codes are alike without having one reason: the first is apart from the others.
    const bool is_apart = death.event->kind == LogKind::kExit && IsNamedFirst(death);
    std::vector<size_t>& alike =
        places[std::tuple(death.ending, TypeOf(death.event->text), death.event->program_line,
                          death.rank.has_value(), is_apart)];
    const auto same = std::find_if(alike.begin(), alike.end(), [&](size_t place) {
      const Death& first = failures[place].deaths.front();
      return first.event->text == death.event->text ||
             OrderOfDeaths(first, death).basis != OrderBasis::kTimes;
    });
    const bool is_new = same == alike.end() && alike.size() < kMostApart;
    if (is_new) {
      alike.push_back(failures.size());
      failures.emplace_back();
    }
    Failure& failure = failures[same == alike.end() || is_new ? alike.back() : *same];
    if (death.rank.has_value()) {
      failure.ranks.push_back(*death.rank);
    }
    failure.deaths.push_back(std::move(death));
    if (IsEarlier(failure.deaths.back(), failure.deaths.front())) {
      std::swap(failure.deaths.front(), failure.deaths.back());
    }
  }
  for (Failure& failure : failures) {
    std::sort(failure.ranks.begin(), failure.ranks.end());
  }
  return failures;
}

// Where nothing says the order: lack of memory last, as causes are ranked.
void SortByKind(std::vector<Failure>& failures) {
  std::stable_sort(failures.begin(), failures.end(), [](const Failure& a, const Failure& b) {
    const auto is_memory = [](const Failure& failure) {
      return failure.deaths.front().ending == Ending::kOutOfMemory;
    };
    return is_memory(a) < is_memory(b);
  });
}

// Those of which no other one is earlier come first. What is said may contradict itself: then
// one of the rest is taken as it comes.
std::vector<Failure> InOrder(std::vector<Failure> failures) {
  constexpr size_t kMostCompared = 200;
  const size_t count = failures.size();
  if (count < 2 || count > kMostCompared) {
    return failures;
  }
  std::vector<std::vector<size_t>> later(count);
  std::vector<size_t> before(count, 0);
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i + 1; j < count; ++j) {
      const FailureOrder order = OrderOf(failures[i], failures[j]);
      if (order.basis != OrderBasis::kNone) {
        const size_t earlier = order.is_first_earlier ? i : j;
        later[earlier].push_back(i + j - earlier);
        ++before[i + j - earlier];
      }
    }
  }
  std::vector<Failure> ordered;
  std::set<size_t> free;
  std::set<size_t> rest;
  for (size_t i = 0; i < count; ++i) {
    (before[i] == 0 ? free : rest).insert(i);
  }
  while (!free.empty() || !rest.empty()) {
    std::set<size_t>& from = free.empty() ? rest : free;
    const size_t next = *from.begin();
    from.erase(from.begin());
    for (const size_t other : later[next]) {
      --before[other];
      if (before[other] == 0 && rest.erase(other) > 0) {
        free.insert(other);
      }
    }
    ordered.push_back(std::move(failures[next]));
  }
  return ordered;
}

}  // namespace

bool EndsProcess(const JobEvent& event) {
  switch (event.kind) {
    case LogKind::kException:
    case LogKind::kOutOfMemory:
    case LogKind::kFatal:
    case LogKind::kNoStart:
      return true;
    case LogKind::kExit:
      return event.exit_code.value_or(0) != 0;
    case LogKind::kKilled:
      return event.rank.has_value();
    case LogKind::kTaskFailed:
      return IsCrashOfTask(event);
    default:
      return false;
  }
}

bool IsCrashOfTask(const JobEvent& event) {
  constexpr std::string_view kStates[] = {"Segmentation fault", "Bus error", "Aborted",
                                          "Floating point exception", "Illegal instruction"};
  return event.kind == LogKind::kTaskFailed &&
         std::any_of(std::begin(kStates), std::end(kStates),
                     [&](std::string_view state) { return event.text.ends_with(state); });
}

FailureOrder OrderOf(const Failure& first, const Failure& second) {
  return OrderOfDeaths(first.deaths.front(), second.deaths.front());
}

std::vector<Failure> FindFailures(std::span<const JobEvent> events) {
  std::vector<Failure> failures = GroupAlike(DeathFinder(events).Find());
  SortByKind(failures);
  return InOrder(std::move(failures));
}

}  // namespace borescope::internal
