// What a recording holds that should not be given away unseen.
#include <array>
#include <iterator>

#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/sensitive.h"

namespace borescope::internal {
namespace {

struct HelpRow {
  std::string_view what;
  std::string_view help;
};
constexpr HelpRow kHelp[] = {
    {"members", "Members of the document that are not read, which may hold anything"},
    {"environment", "Rows with names of hosts and systems, or with environment variables"},
    {"output", "Rows with what the program printed"},
    {"processes", "Rows with the processes of the machine and their command lines"},
    {"network", "Rows with network devices and addresses"},
    {"files", "Rows with names of files"},
};

}  // namespace

std::vector<SensitiveCount> CountSensitive(const Trace& trace) {
  std::vector<SensitiveCount> counts = trace.meta().sensitive;
  std::array<uint64_t, kSensitiveKinds> texts{};
  for (uint32_t id = 0; id < trace.strings().size(); ++id) {
    CheckStopAt(id);
    std::array<bool, kSensitiveKinds> found{};
    for (const SensitiveSpan& span : FindSensitive(trace.Text(StringId{id}))) {
      found[static_cast<size_t>(span.kind)] = true;
    }
    for (size_t kind = 0; kind < found.size(); ++kind) {
      texts[kind] += found[kind] ? 1 : 0;
    }
  }
  for (size_t kind = 0; kind < texts.size(); ++kind) {
    if (texts[kind] > 0) {
      counts.push_back({std::string(SensitiveWord(static_cast<Sensitive>(kind))), texts[kind]});
    }
  }
  return counts;
}

std::string SensitiveHelp(std::string_view what) {
  constexpr std::string_view kRemedy = "; borescope convert --scrub writes a copy without them.";
  for (const HelpRow& row : kHelp) {
    if (row.what == what) {
      return std::string(row.help) + std::string(kRemedy);
    }
  }
  for (size_t kind = 0; kind < kSensitiveKinds; ++kind) {
    if (SensitiveWord(static_cast<Sensitive>(kind)) == what) {
      return "Texts with " + std::string(SensitiveName(static_cast<Sensitive>(kind))) +
             std::string(kRemedy);
    }
  }
  return "";
}

}  // namespace borescope::internal
