// The packs of a complete build, by the tool that each imitates. Each is defined in its folder; the
// pack of Chakra has no analyses, only the functions of chakra.h and link.h in include/. To add
// one: its folder, a line here, and one in packs.cc.
#pragma once

#include "borescope/catalog/pack.h"

namespace borescope::internal {

extern const Pack kHtaPack;          // HolisticTraceAnalysis
extern const Pack kRpdPack;          // the views of rocmProfileData
extern const Pack kInductorPack;     // TorchInductor's profile table, and the verb `inductor`
extern const Pack kKeyAveragesPack;  // key_averages() of PyTorch's profiler
extern const Pack kPyProfPack;       // NVIDIA's PyProf, and the verb `prof`

}  // namespace borescope::internal
