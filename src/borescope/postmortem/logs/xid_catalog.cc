#include "borescope/postmortem/logs/xid_catalog.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

struct Xid {
  int number;
  XidClass of;
  std::string_view meaning;
};

// Ascending.
constexpr Xid kXids[] = {
    {8, XidClass::kProgram, "GPU stopped processing"},
    {11, XidClass::kProgram, "invalid or corrupted push buffer"},
    {13, XidClass::kProgram, "graphics engine exception"},
    {31, XidClass::kProgram, "GPU memory page fault"},
    {39, XidClass::kProgram, "copy engine exception"},
    {40, XidClass::kProgram, "copy engine exception"},
    {41, XidClass::kProgram, "copy engine exception"},
    {43, XidClass::kProgram, "GPU stopped processing, by a fault of the program"},
    {44, XidClass::kDriver, "graphics engine fault during a context switch"},
    {45, XidClass::kConsequence, "cleanup after an earlier error or the end of the process"},
    {46, XidClass::kHardware, "GPU stopped processing"},
    {48, XidClass::kHardware, "double bit ECC error"},
    {54, XidClass::kHardware, "auxiliary power is not connected"},
    {62, XidClass::kDriver, "internal micro-controller halt"},
    {63, XidClass::kInformation, "memory was remapped"},
    {64, XidClass::kHardware, "memory could not be remapped"},
    {66, XidClass::kDriver, "illegal access by the driver"},
    {67, XidClass::kDriver, "illegal access by the driver"},
    {68, XidClass::kProgram, "video decoder exception"},
    {69, XidClass::kProgram, "graphics engine class error"},
    {74, XidClass::kHardware, "NVLink error"},
    {79, XidClass::kHardware, "GPU has fallen off the bus"},
    {80, XidClass::kProgram, "corrupted data sent to the GPU"},
    {92, XidClass::kInformation, "high rate of single-bit ECC errors"},
    {94, XidClass::kHardware, "contained memory error"},
    {95, XidClass::kHardware, "uncontained memory error"},
    {109, XidClass::kDriver, "context switch timeout"},
    {110, XidClass::kHardware, "security fault"},
    {119, XidClass::kDriver, "the GPU's system processor did not answer"},
    {120, XidClass::kDriver, "error of the GPU's system processor"},
    {121, XidClass::kInformation, "corrected error of the link to the processor"},
    {136, XidClass::kHardware, "training of a link failed"},
    {137, XidClass::kProgram, "illegal access over NVLink"},
    {140, XidClass::kHardware, "unrecovered ECC error"},
    {143, XidClass::kHardware, "initialization of the GPU failed"},
    {144, XidClass::kHardware, "NVLink error"},
    {145, XidClass::kHardware, "NVLink error"},
    {146, XidClass::kHardware, "NVLink error"},
    {147, XidClass::kHardware, "NVLink error"},
    {148, XidClass::kHardware, "NVLink error"},
    {149, XidClass::kHardware, "NVLink error"},
    {150, XidClass::kHardware, "NVLink error"},
    {154, XidClass::kConsequence, "the recommended recovery changed"},
    {158, XidClass::kHardware, "fatal timeout of the GPU"},
    {171, XidClass::kHardware, "uncorrectable error of the memory"},
    {172, XidClass::kHardware, "uncorrectable error of the caches"}};

const Xid* Find(int xid) {
  const auto* const at =
      std::lower_bound(std::begin(kXids), std::end(kXids), xid,
                       [](const Xid& entry, int number) { return entry.number < number; });
  return at != std::end(kXids) && at->number == xid ? at : nullptr;
}

}  // namespace

XidClass XidClassOf(int xid) {
  const Xid* const found = Find(xid);
  return found == nullptr ? XidClass::kUnknown : found->of;
}

std::string_view XidMeaning(int xid) {
  const Xid* const found = Find(xid);
  return found == nullptr ? "see NVIDIA's catalog" : found->meaning;
}

std::string_view XidHelp(XidClass of) {
  switch (of) {
    case XidClass::kProgram:
      return "The program is at fault, most likely: run it with CUDA_LAUNCH_BLOCKING=1 to find the "
             "kernel, or a small case under compute-sanitizer.";
    case XidClass::kHardware:
      return "Drain the node, reset the GPU or reboot, and test it before it is used again "
             "(`dcgmi diag -r 3`); if it comes back, it is for the vendor.";
    case XidClass::kDriver:
      return "Reset the GPU or reboot the node; if it comes back, update the driver.";
    case XidClass::kInformation:
      return "Nothing has to be done now; watch whether it becomes frequent on this GPU.";
    case XidClass::kConsequence:
      return "Look at the error before it: this one follows from the end of the process.";
    case XidClass::kUnknown:
      break;
  }
  return "Look the number up in NVIDIA's catalog of Xid errors "
         "(docs.nvidia.com/deploy/xid-errors).";
}

}  // namespace borescope::internal
