// What samplers of a recording have in common.
#pragma once

#include <string>
#include <vector>

namespace borescope::internal {

// A number that was measured now. Series are called "gpu/0/power": what is watched, its number, and
// what of it.
struct Sample {
  std::string series;
  double value = 0;
};

// One thread at a time.
class Sampler {
 public:
  Sampler() = default;
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  virtual ~Sampler() = default;
  // Measures, and adds what it found. What cannot be measured is left out.
  virtual void Read(std::vector<Sample>& samples) = 0;
};

}  // namespace borescope::internal
