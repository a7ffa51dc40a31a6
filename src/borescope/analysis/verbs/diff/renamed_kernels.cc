#include "borescope/analysis/verbs/diff/renamed_kernels.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {
namespace {

// A kernel where it was launched.
struct Kernel {
  int64_t total_ns = 0;
  std::string name;

  friend bool operator<(const Kernel& a, const Kernel& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  }
};

// Of one class, operator and shape: the kernels that are in one run only.
struct Place {
  bool has_shapes = false;
  std::vector<Kernel> base;
  std::vector<Kernel> test;
};
using Places = std::map<std::tuple<std::string, std::string, KernelClass>, Place>;

void AddLaunches(const Table& launches, const Changes& changes, CallSum NameChange::* other_run,
                 std::vector<Kernel> Place::* run, Places& places) {
  const StringValues& operators = Texts(launches, "operator");
  const StringValues& shapes = Texts(launches, "shapes");
  const StringValues& names = Texts(launches, "name");
  const IntValues& total_ns = Ints(launches, "total_ns");
  const Column* shapes_column = launches.Find("shapes");
  for (size_t row = 0; row < launches.rows(); ++row) {
    CheckStopAt(row);
    const std::string name(names[row]);
    const auto change = changes.find({true, name});
    if (change == changes.end() || (change->second.*other_run).count != 0) {
      continue;
    }
    Place& place =
        places[{std::string(operators[row]), std::string(shapes[row]), ClassifyKernel(name)}];
    place.has_shapes = !shapes_column->IsMissing(row);
    (place.*run).push_back({total_ns[row], name});
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

void PairRenamedKernels(const Table& base_launches, const Table& test_launches, Changes& changes) {
  Places places;
  AddLaunches(base_launches, changes, &NameChange::test, &Place::base, places);
  AddLaunches(test_launches, changes, &NameChange::base, &Place::test, places);
  const Candidates candidates = FindCandidates(places);
  std::vector<Candidates::const_iterator> order;
  for (auto it = candidates.begin(); it != candidates.end(); ++it) {
    order.push_back(it);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second > b->second; });
  std::set<std::string> paired;
  for (const auto& candidate : order) {
    const auto& [base, test] = candidate->first;
    if (!paired.contains(base) && !paired.contains(test)) {
      paired.insert({base, test});
      Join(base, test, changes);
    }
  }
}

}  // namespace borescope::internal
