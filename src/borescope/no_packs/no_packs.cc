// What a build without packs (-DBORESCOPE_PACKS=OFF) has in their place: an empty list, and an
// error from each public function that a pack implements.
#include <utility>

#include "borescope/bench_kernel.h"
#include "borescope/catalog/pack.h"
#include "borescope/chakra.h"
#include "borescope/link.h"

namespace borescope {

std::span<const internal::Pack* const> internal::Packs() { return {}; }

namespace {

Error NotBuilt(std::string_view what) {
  return Error{.code = ErrorCode::kInvalidArgument,
               .cause = std::string(what) + " is not part of this build",
               .remedy = "build Borescope with -DBORESCOPE_PACKS=ON"};
}

}  // namespace

Result<Answer> BenchKernel(const std::string& /*file*/, const BenchKernelOptions& /*options*/) {
  return NotBuilt("bench-kernel");
}

Result<Answer> Link(const std::string& /*host*/, const std::string& /*device*/,
                    const std::string& /*output*/, const LinkOptions& /*options*/) {
  return NotBuilt("link");
}

Result<Answer> ChakraConvert(const ChakraConvertOptions& /*options*/) {
  return NotBuilt("chakra convert");
}

Result<void> ChakraDump(const std::string& /*input*/, bool /*as_reference*/,
                        const Output& /*output*/) {
  return NotBuilt("chakra dump");
}

Result<void> ChakraDraw(const std::string& /*input*/, const std::string& /*format*/,
                        bool /*as_reference*/, const Output& /*output*/) {
  return NotBuilt("chakra draw");
}

Result<uint64_t> ChakraGenerate(const ChakraGenerateOptions& /*options*/) {
  return NotBuilt("chakra generate");
}

Result<std::vector<Diagnostic>> ChakraTimeline(const ChakraTimelineOptions& /*options*/,
                                               const Output& /*output*/) {
  return NotBuilt("chakra timeline");
}

Result<std::vector<std::string>> FindEtFiles(std::span<const std::string> /*inputs*/) {
  return NotBuilt("chakra");
}

Result<ChakraVerdict> ChakraCheck(const ChakraCheckOptions& /*options*/) {
  return NotBuilt("chakra check");
}

}  // namespace borescope
