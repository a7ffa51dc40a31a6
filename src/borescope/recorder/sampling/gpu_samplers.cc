#include "borescope/recorder/sampling/gpu_samplers.h"

namespace borescope::internal {

std::vector<std::unique_ptr<Sampler>> MakeGpuSamplers() {
  std::vector<std::unique_ptr<Sampler>> samplers;
  const auto add = [&](std::unique_ptr<Sampler> sampler) {
    if (sampler != nullptr) samplers.push_back(std::move(sampler));
    return samplers.size();
  };
  add(MakeNvmlSampler());
  const size_t before = samplers.size();
  // Both of AMD's libraries would show the same GPUs.
  if (add(MakeAmdSmiSampler()) == before) add(MakeRocmSmiSampler());
  return samplers;
}

}  // namespace borescope::internal
