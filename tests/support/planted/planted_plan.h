// What a program does, and where in it causes of lost time are planted.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tests/support/planted/planted_machine.h"

namespace borescope::scenario {

struct PlantSite {
  size_t plant = 0;  // index into PlantConfig::plants
  int64_t ns = 0;    // that it costs here
};

struct PlantedPlan {
  std::vector<std::vector<MachineWork>> items;  // what each launch starts; all ranks do the same
  size_t items_per_step = 1;
  size_t inherited =
      0;  // of the last items, that ran before the others, launched before the recording
  size_t steps_ahead = 2;                          // of the device, that the host may be
  std::map<size_t, std::vector<PlantSite>> sites;  // before items
  std::vector<int64_t> wanted_ns;                  // what each plant shall cost
  int64_t begin_ns = 0;
  int64_t skew_ns = 0;
  int ranks = 1;
  int straggler = -1;
};

PlantedPlan MakePlan(const PlantConfig& config, Random& random);

}  // namespace borescope::scenario
