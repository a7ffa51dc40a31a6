#include "borescope/ingest/cupti/cupti_callbacks.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "borescope/ingest/cupti/cuda_call_names.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {
namespace {

std::string NameOf(std::span<const CudaCallName> callbacks, int64_t number,
                   std::string_view unknown) {
  const auto found =
      std::lower_bound(callbacks.begin(), callbacks.end(), number,
                       [](const CudaCallName& row, int64_t wanted) { return row.number < wanted; });
  if (found != callbacks.end() && found->number == number) {
    return std::string(found->name);
  }
  return std::string(unknown) + (number == kMissing ? "" : std::to_string(number));
}

}  // namespace

std::string RuntimeApiName(int64_t callback) {
  return NameOf(kRuntimeCallNames, callback, "cudaApi_");
}

std::string DriverApiName(int64_t callback) { return NameOf(kDriverCallNames, callback, "cuApi_"); }

}  // namespace borescope::internal
