#include "borescope/analysis/verbs/diff/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {

namespace {

// Times never repeat exactly. What differs by less than one of these is taken for the same.
constexpr double kLeastChange = 0.05;
constexpr double kLeastChangeNs = 1000;

__extension__ using Int128 = __int128;

}  // namespace

std::string_view StatusName(Status status) {
  static constexpr std::string_view kNames[] = {"added", "deleted", "slower", "faster",
                                                "unchanged"};
  return kNames[static_cast<size_t>(status)];
}

std::string_view CountStatusName(CountStatus status) {
  static constexpr std::string_view kNames[] = {"more", "fewer", "same", ""};
  return kNames[static_cast<size_t>(status)];
}

std::string_view CallTimeStatusName(CallTimeStatus status) {
  static constexpr std::string_view kNames[] = {"longer", "shorter", "same", ""};
  return kNames[static_cast<size_t>(status)];
}

std::string RunUnits::Words() const {
  return unit == "run" ? std::string() : fmt::format(" per {}", unit);
}

int64_t MeanOf(int64_t sum_ns, int64_t units) {
  return sum_ns / units + ((sum_ns % units) * 2 >= units ? 1 : 0);
}

std::optional<double> ShareOfChange(int64_t base, int64_t test) {
  return base <= 0 ? std::nullopt
                   : std::optional((static_cast<double>(test) - static_cast<double>(base)) /
                                   static_cast<double>(base));
}

std::optional<double> RatioOf(int64_t base, int64_t test) {
  return base <= 0 || test <= 0
             ? std::nullopt
             : std::optional(static_cast<double>(test) / static_cast<double>(base));
}

namespace {

// -1, 0 or 1: whether a time is less than, about the same as, or more than another.
int SignOfChange(double before_ns, double after_ns) {
  const double change_ns = after_ns - before_ns;
  const bool is_same = std::abs(change_ns) < std::max(before_ns * kLeastChange, kLeastChangeNs);
  return is_same ? 0 : change_ns > 0 ? 1 : -1;
}

double MeanTime(const CallSum& sum, int64_t units) {
  return static_cast<double>(sum.total_ns) / static_cast<double>(units);
}

}  // namespace

Status NameChange::status(const RunUnits& units) const {
  if (base.count == 0 || test.count == 0) {
    return base.count == 0 ? Status::kAdded : Status::kDeleted;
  }
  const int sign = SignOfChange(MeanTime(base, units.base), MeanTime(test, units.test));
  return sign > 0 ? Status::kSlower : sign < 0 ? Status::kFaster : Status::kUnchanged;
}

CountStatus NameChange::count_status(const RunUnits& units) const {
  if (base.count == 0 || test.count == 0) {
    return CountStatus::kUnknown;
  }
  const Int128 before = static_cast<Int128>(base.count) * units.test;
  const Int128 after = static_cast<Int128>(test.count) * units.base;
  return after > before   ? CountStatus::kMore
         : after < before ? CountStatus::kFewer
                          : CountStatus::kSame;
}

// The time of the test run against what as many calls took in the base run.
CallTimeStatus NameChange::call_time_status(const RunUnits& units) const {
  if (base.count == 0 || test.count == 0) {
    return CallTimeStatus::kUnknown;
  }
  const double calls = static_cast<double>(test.count) / static_cast<double>(units.test);
  const double expected_ns =
      static_cast<double>(base.total_ns) / static_cast<double>(base.count) * calls;
  const int sign = SignOfChange(expected_ns, MeanTime(test, units.test));
  return sign > 0   ? CallTimeStatus::kLonger
         : sign < 0 ? CallTimeStatus::kShorter
                    : CallTimeStatus::kSame;
}

namespace {

// A kernel where it was launched.
struct Kernel {
  int64_t total_ns = 0;
  std::string name;

  friend bool operator<(const Kernel& a, const Kernel& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  }
};

// The kernels of one class, operator and shape that are in one run only.
struct Place {
  bool has_shapes = false;
  std::vector<Kernel> base;
  std::vector<Kernel> test;
};
using Places = std::map<std::tuple<std::string, std::string, KernelClass>, Place>;

void AddLaunches(const std::vector<LaunchSumRow>& launches, const Changes& changes,
                 CallSum NameChange::* other_run, std::vector<Kernel> Place::* run,
                 Places& places) {
  for (const size_t row : EachIndex(launches.size())) {
    const LaunchSumRow& launch = launches[row];
    const auto change = changes.find({true, launch.name});
    if (change == changes.end() || (change->second.*other_run).count != 0) {
      continue;
    }
    Place& place = places[{std::string(launch.op), std::string(launch.shapes.value_or("")),
                           ClassifyKernel(launch.name)}];
    place.has_shapes = launch.shapes.has_value();
    (place.*run).push_back({launch.total_ns, launch.name});
  }
}

// Base and test name with the time that both took where they were paired.
using Candidates = std::map<std::pair<std::string, std::string>, int64_t>;

Candidates FindCandidates(Places& places) {
  Candidates candidates;
  for (auto& [key, place] : places) {
    const bool is_single = place.base.size() == 1 && place.test.size() == 1;
    if (!place.has_shapes && !is_single) {
      continue;
    }
    std::sort(place.base.begin(), place.base.end());
    std::sort(place.test.begin(), place.test.end());
    for (size_t i = 0; i < std::min(place.base.size(), place.test.size()); ++i) {
      int64_t& total_ns = candidates[{place.base[i].name, place.test[i].name}];
      total_ns =
          AddSaturating(total_ns, AddSaturating(place.base[i].total_ns, place.test[i].total_ns));
    }
  }
  return candidates;
}

void Join(const std::string& base, const std::string& test, Changes& changes) {
  const auto renamed = changes.find({true, test});
  NameChange& change = changes.at({true, base});
  change.test = renamed->second.test;
  change.renamed_to = test;
  changes.erase(renamed);
}

}  // namespace

void PairRenamedKernels(const std::vector<LaunchSumRow>& base,
                        const std::vector<LaunchSumRow>& test, Changes& changes) {
  Places places;
  AddLaunches(base, changes, &NameChange::test, &Place::base, places);
  AddLaunches(test, changes, &NameChange::base, &Place::test, places);
  const Candidates candidates = FindCandidates(places);
  std::vector<Candidates::const_iterator> order;
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    order.push_back(it);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second > b->second; });
  std::set<std::string> paired;
  for (const auto& candidate : order) {
    const auto& [old_name, new_name] = candidate->first;
    if (!paired.contains(old_name) && !paired.contains(new_name)) {
      paired.insert({old_name, new_name});
      Join(old_name, new_name, changes);
    }
  }
}

}  // namespace borescope::internal
