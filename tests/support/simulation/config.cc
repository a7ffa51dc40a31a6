#include "tests/support/simulation/config.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace borescope::simulation {
namespace {

template <class E>
using Names = std::array<std::string_view, static_cast<size_t>(E::kCount)>;

constexpr Names<ProgramKind> kPrograms = {"host-bound", "device-bound", "data-bound", "inference",
                                          "ddp",        "streams",      "copies",     "random"};
constexpr Names<StragglerCause> kStragglers = {"slow-device", "clock",   "more-work",
                                               "data",        "host",    "launch",
                                               "pause",       "network", "late-start"};
constexpr Names<SlowCause> kSlow = {"data-stall", "operator", "host", "pause", "work", "trend"};

template <class E>
std::optional<E> Find(const Names<E>& names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

// Cuts the text before the first `mark` off, all of it if there is none.
std::string_view Take(char mark, std::string_view* text) {
  const size_t at = text->find(mark);
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at + 1);
  return part;
}

template <class N>
bool ParseNumber(std::string_view text, N* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseShare(std::string_view text, double* percent) {
  return text.empty() || (ParseNumber(text, percent) && *percent >= -100 && *percent <= 10'000);
}

}  // namespace

std::string_view ProgramKindName(ProgramKind kind) { return kPrograms[static_cast<size_t>(kind)]; }
std::optional<ProgramKind> FindProgramKind(std::string_view name) {
  return Find<ProgramKind>(kPrograms, name);
}
std::string_view StragglerCauseName(StragglerCause cause) {
  return kStragglers[static_cast<size_t>(cause)];
}
std::optional<StragglerCause> FindStragglerCause(std::string_view name) {
  return Find<StragglerCause>(kStragglers, name);
}
std::string_view SlowCauseName(SlowCause cause) { return kSlow[static_cast<size_t>(cause)]; }
std::optional<SlowCause> FindSlowCause(std::string_view name) {
  return Find<SlowCause>(kSlow, name);
}

std::optional<std::vector<Straggler>> ParseStragglers(std::string_view text) {
  std::vector<Straggler> stragglers;
  while (!text.empty()) {
    std::string_view part = Take(',', &text);
    Straggler straggler;
    if (!ParseNumber(Take(':', &part), &straggler.rank)) return std::nullopt;
    const std::optional<StragglerCause> cause = FindStragglerCause(Take(':', &part));
    if (!cause || !ParseShare(part, &straggler.percent)) return std::nullopt;
    straggler.cause = *cause;
    stragglers.push_back(straggler);
  }
  return stragglers;
}

std::optional<std::vector<SlowSteps>> ParseSlowSteps(std::string_view text) {
  std::vector<SlowSteps> slow;
  while (!text.empty()) {
    std::string_view part = Take(',', &text);
    const std::optional<SlowCause> cause = FindSlowCause(Take(':', &part));
    SlowSteps steps;
    if (!cause || !ParseShare(part, &steps.percent)) return std::nullopt;
    steps.cause = *cause;
    slow.push_back(steps);
  }
  return slow;
}

}  // namespace borescope::simulation
