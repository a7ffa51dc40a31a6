// What the numbers of NVIDIA's kernel module mean (Xid errors), by NVIDIA's catalog:
// docs.nvidia.com/deploy/xid-errors, its description and its column of immediate actions.
#pragma once

#include <cstdint>
#include <string_view>

namespace borescope::internal {

enum class XidClass : uint8_t {
  kProgram,      // restart the program, and look for its fault
  kHardware,     // memory, links, the bus: reset or drain
  kDriver,       // the driver or the firmware of the GPU: reset
  kInformation,  // to be ignored
  kConsequence,  // of another error, or of the end of the process
  kUnknown,      // see the catalog
};

XidClass XidClassOf(int xid);
// "GPU has fallen off the bus"; "see NVIDIA's catalog" for others.
std::string_view XidMeaning(int xid);
// What to do about errors of this class.
std::string_view XidHelp(XidClass of);

}  // namespace borescope::internal
