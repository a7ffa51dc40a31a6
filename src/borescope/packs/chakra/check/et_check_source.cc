// A .et against what it was made from.
#include <fmt/format.h>

#include <cmath>

#include "borescope/base/text/text.h"
#include "borescope/packs/chakra/check/et_check.h"
#include "borescope/packs/chakra/check/et_totals.h"
#include "borescope/packs/chakra/linked/linked_tree.h"

namespace borescope::internal {
namespace {

double MicrosecondsOf(std::string_view text) { return ParseNumber<double>(text).value_or(0); }

struct Cases {
  uint64_t count = 0;
  std::string first;

  void Add(std::string text) {
    first = count == 0 ? std::move(text) : first;
    count += 1;
  }
  void Put(const std::string& file, std::string_view check, std::vector<CheckRow>& rows) const {
    rows.push_back(
        {file, check, count == 0 ? CheckStatus::kOk : CheckStatus::kFailed, count, first});
  }
};

// Whole microseconds may be cut off or rounded.
bool IsDuration(const EtNode& node, double us) {
  const auto written = static_cast<double>(node.duration_us);
  return written >= std::floor(us) && written <= std::ceil(us);
}

bool HasWork(const LinkedNode& node) { return !IsThread(node) && !IsProcess(node); }

}  // namespace

void CheckEtAgainst(const std::string& file, const EtFile& et, const LinkedTrace& linked,
                    std::vector<CheckRow>& rows) {
  Cases missing;
  Cases names;
  Cases durations;
  uint64_t found = 0;
  for (const LinkedNode& source : linked.nodes) {
    const auto place = et.places.find(source.id);
    if (place == et.places.end()) {
      if (HasWork(source)) {
        missing.Add(fmt::format("node {} ({})", source.id, source.name));
      }
      continue;
    }
    const EtNode& node = et.nodes[place->second];
    found += 1;
    if (node.name != source.name) {
      names.Add(fmt::format("node {}: {} was {}", node.id, node.name, source.name));
    }
    if (const double us = MicrosecondsOf(source.exclusive_us); !IsDuration(node, us)) {
      durations.Add(
          fmt::format("node {} ({}): {} us were {}", node.id, node.name, node.duration_us, us));
    }
  }
  Cases added;
  added.count = et.places.size() - found;
  added.first = added.count == 0 ? "" : "nodes that the source does not have";
  missing.Put(file, "source-nodes-kept", rows);
  added.Put(file, "no-other-nodes", rows);
  names.Put(file, "source-names", rows);
  durations.Put(file, "source-durations", rows);
}

}  // namespace borescope::internal
