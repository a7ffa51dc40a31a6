#include "tests/truth/verdict/known_findings.h"

#include <algorithm>

namespace borescope::internal::testkit {
namespace {

using scenario::Cause;
using scenario::Setting;

struct Known {
  std::string_view title;
  std::string_view label;
};

constexpr Known kKnown[] = {
    {"The device idles while the host is busy", "host busy"},
    {"The device idles in one long gap", "one long gap"},
    {"The device idles after synchronisation", "synchronisation"},
    {"The device waits for data", "data"},
    {"The device idles during long launch calls", "launch calls"},
    {"Launch-bound: short kernels, slow launches", "launch-bound"},
    {"The device idles for the latency of launches", "latency"},
    {"The device idles between work already launched", "between work"},
    {"Launched work waits for something that was not recorded", "not recorded"},
    {"The device begins late, for an unknown reason", "late begin"},
    {"Copies were not recorded, and may be what the device did", "copies not recorded"},
    {"The device idles before its first work", "before first"},
    {"The device idles after its last work", "after last"},
    {"The device idles, and launches are not recorded", "no launches"},
    {"The device idles for several reasons", "several"},
    {"Memory is allocated and freed in the steps", "allocation"},
    {"The host does something that was not recorded", "silent host"},
    {"The optimizer launches for each parameter by itself", "optimizer"},
    {"Copies are not hidden behind compute", "copies"},
    {"Communication is not hidden behind compute", "communication"},
    {"Kernels are bound by memory bandwidth", "memory-bound"},
    {"Products of matrices run without tensor cores", "fp32 products"},
    {"One rank makes the others wait", "one rank"},
    {"Several ranks make the others wait", "several ranks"},
    {"Ranks wait for each other in collectives", "ranks in turn"},
    {"Receives wait for the ranks that send", "receives"},
    {"Collectives seem to wait for ranks that are not here", "absent ranks"},
    {"Ranks compute for different times", "uneven ranks"},
    {"Devices of one process take turns", "devices in turn"},
    {"Devices of one process wait for each other", "waiting devices"},
    {"Devices of one process have uneven work", "uneven devices"},
    {"A device is hardly used", "hardly used"},
    {"The device idles while nothing was recorded", "nothing recorded"},
    {"The same kernels become slower", "slower kernels"},
};

}  // namespace

std::string_view LabelOf(const std::string& finding) {
  const auto* const found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                         [&](const Known& one) { return one.title == finding; });
  return found == std::end(kKnown) ? std::string_view() : found->label;
}

std::vector<std::string_view> AllLabels() {
  std::vector<std::string_view> labels;
  for (const Known& known : kKnown) {
    labels.push_back(known.label);
  }
  return labels;
}

std::string_view LabelFor(Cause cause, Setting setting) {
  const bool is_end = cause == Cause::kSetup || cause == Cause::kTeardown;
  if (is_end && setting == Setting::kWholeProcess) {
    return "";
  }
  const bool has_arguments = setting != Setting::kWholeProcess && setting != Setting::kGraphs;
  if (cause == Cause::kMemoryBound && !has_arguments) {
    return "";
  }
  if (cause == Cause::kFp32Products && setting == Setting::kWholeProcess) {
    return "";  // nothing says what the device could do
  }
  constexpr std::string_view kLabels[] = {"host busy",
                                          "one long gap",
                                          "synchronisation",
                                          "one long gap",
                                          "data",
                                          "launch calls",
                                          "launch-bound",
                                          "between work",
                                          "not recorded",
                                          "before first",
                                          "after last",
                                          "no launches",
                                          "",
                                          "late begin",
                                          "copies not recorded",
                                          "allocation",
                                          "silent host",
                                          "optimizer",
                                          "copies",
                                          "communication",
                                          "memory-bound",
                                          "fp32 products",
                                          "one rank",
                                          "several ranks",
                                          "ranks in turn"};
  static_assert(std::size(kLabels) == static_cast<size_t>(Cause::kCount));
  return kLabels[static_cast<size_t>(cause)];
}

bool Names(std::string_view label, Cause cause, Setting setting) {
  // Beside other time of the host a single pause is not called an event, but still by its kind.
  return label == LabelFor(cause, setting) ||
         (cause == Cause::kHostPause && label == "host busy") ||
         (cause == Cause::kLongWait && label == "synchronisation");
}

bool Follows(std::string_view label, Cause cause, uint64_t seed) {
  if (!IsOfRanks(cause)) {
    return false;
  }
  const uint64_t kind = seed % 4;  // of being late: see PlantedActor::ComeLate
  // A rank whose turn comes once has one gap.
  const bool is_once = cause == Cause::kLateInTurn && kind == 1 && label == "one long gap";
  return is_once || label == (kind == 1 ? "host busy" : kind == 2 ? "data" : "uneven ranks");
}

}  // namespace borescope::internal::testkit
