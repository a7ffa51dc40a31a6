#include "borescope/packs/packs.h"

namespace borescope::internal {
namespace {

constexpr const Pack* kPacks[] = {&kHtaPack, &kRpdPack, &kInductorPack, &kKeyAveragesPack,
                                  &kPyProfPack};

}  // namespace

std::span<const Pack* const> Packs() { return kPacks; }

}  // namespace borescope::internal
