#include "borescope/analysis/measures/replay/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "borescope/analysis/core/selection/phases.h"
#include "borescope/base/text/text.h"
#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {
namespace {

constexpr double kLargestFactor = 1000;
constexpr std::string_view kTargets =
    "kernel:TEXT, op:TEXT, class:NAME, comm, copy, phase:NAME or host:TEXT";

struct TargetRow {
  TargetKind kind;
  std::string_view prefix;
};
constexpr TargetRow kPrefixes[] = {{TargetKind::kKernel, "kernel:"},
                                   {TargetKind::kOp, "op:"},
                                   {TargetKind::kClass, "class:"},
                                   {TargetKind::kPhase, "phase:"},
                                   {TargetKind::kHost, "host:"}};

template <class Enum>
std::string NamesOf(std::string_view (*name)(Enum), Enum count) {
  std::string names;
  for (uint8_t value = 0; value < static_cast<uint8_t>(count); ++value) {
    names += (names.empty() ? "" : ", ") + std::string(name(static_cast<Enum>(value)));
  }
  return names;
}

bool IsClass(std::string_view text) {
  for (uint8_t value = 0; value < static_cast<uint8_t>(KernelClass::kCount); ++value) {
    if (KernelClassName(static_cast<KernelClass>(value)) == text) {
      return true;
    }
  }
  return false;
}

bool IsPhase(std::string_view text) {
  for (uint8_t value = 0; value <= static_cast<uint8_t>(Phase::kOther); ++value) {
    if (PhaseName(static_cast<Phase>(value)) == text) {
      return true;
    }
  }
  return false;
}

Result<void> CheckText(const Change& change) {
  if (change.text.empty()) {
    return UsageError("a name is missing after the colon");
  }
  if (change.target == TargetKind::kClass && !IsClass(change.text)) {
    return UsageError(fmt::format("'{}' is no class", change.text),
                      fmt::format("there are {}", NamesOf(KernelClassName, KernelClass::kCount)));
  }
  if (change.target == TargetKind::kPhase && !IsPhase(change.text)) {
    return UsageError(fmt::format("'{}' is no phase", change.text),
                      fmt::format("there are {}, {}", NamesOf(PhaseName, Phase::kOther),
                                  PhaseName(Phase::kOther)));
  }
  return {};
}

}  // namespace

Result<void> ReadTarget(std::string_view text, Change& change) {
  if (text == "comm" || text == "copy") {
    change.target = text == "comm" ? TargetKind::kComm : TargetKind::kCopy;
    change.text.clear();
    return {};
  }
  for (const TargetRow& row : kPrefixes) {
    if (text.starts_with(row.prefix)) {
      change.target = row.kind;
      change.text = text.substr(row.prefix.size());
      return CheckText(change);
    }
  }
  return UsageError(fmt::format("'{}' names nothing to change", text),
                    fmt::format("write {}", kTargets));
}

Result<double> ReadFactor(std::string_view text) {
  const std::optional<double> factor = ParseNumber<double>(text);
  if (!factor || !std::isfinite(*factor) || *factor < 0 || *factor > kLargestFactor) {
    return UsageError(fmt::format("'{}' is no factor from 0 to 1000", text));
  }
  return *factor;
}

Result<Change> ReadScale(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) {
    return UsageError(fmt::format("'{}' has no factor", text), "write WHAT=F, as class:gemm=0.5");
  }
  Change change;
  BS_TRY(ReadTarget(text.substr(0, equals), change));
  BS_ASSIGN(change.factor, ReadFactor(text.substr(equals + 1)));
  return change;
}

Result<Change> ReadRemoval(std::string_view text) {
  Change change{.kind = ChangeKind::kRemove, .factor = 0};
  BS_TRY(ReadTarget(text, change));
  return change;
}

Result<double> ReadRoofShare(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  const std::optional<double> number =
      ParseNumber<double>(is_percent ? text.substr(0, text.size() - 1) : text);
  const double share = number.value_or(0) / (is_percent ? 100 : 1);
  if (!number || !(share > 0) || share > 1) {
    return UsageError(fmt::format("'{}' is no share of a roof", text), "write 0.8 or 80%");
  }
  return share;
}

std::string Describe(const Change& change) {
  std::string what;
  for (const TargetRow& row : kPrefixes) {
    what = row.kind == change.target ? std::string(row.prefix) + change.text : what;
  }
  what = change.target == TargetKind::kComm   ? "comm"
         : change.target == TargetKind::kCopy ? "copy"
                                              : what;
  switch (change.kind) {
    case ChangeKind::kScale:
      return fmt::format("{} x {}", what, change.factor);
    case ChangeKind::kRemove:
      return "without " + what;
    case ChangeKind::kRoof:
      return fmt::format("at least {:g} % of the roof", 100 * change.factor);
    case ChangeKind::kNoDataWait:
      return "data loaded in the background";
    case ChangeKind::kNoSync:
      return "no wait in " + change.text;
    case ChangeKind::kOverlapComm:
      return "communication overlapped";
    case ChangeKind::kGraph:
      return change.text.empty() ? "launches as graphs" : "launches as graphs in " + change.text;
    case ChangeKind::kLaunch:
      return fmt::format("launch calls x {}", change.factor);
    case ChangeKind::kTensorCores:
      return "products on tensor cores at best";
  }
  return what;
}

}  // namespace borescope::internal
