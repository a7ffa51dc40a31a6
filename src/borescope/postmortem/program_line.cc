#include "borescope/postmortem/program_line.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

#include "borescope/base/memory_limit.h"
#include "borescope/base/text/text.h"

namespace borescope::internal {

struct LineFinder::Skipped {
  explicit Skipped(const std::string& pattern) : files(pattern, RE2::Quiet) {}
  RE2 files;
};

namespace {

bool IsOfTorch(std::string_view file) { return Contains(file, "/torch/"); }

bool IsOfLibrary(std::string_view file) {
  return IsOfTorch(file) || Contains(file, "site-packages/") || Contains(file, "dist-packages/") ||
         Contains(file, "/lib/python3.") || file.starts_with("<frozen");
}

std::string LineText(const ProgramFrame& frame) {
  return fmt::format("{}:{}{}{}", frame.file, frame.line, frame.function.empty() ? "" : " ",
                     frame.function);
}

}  // namespace

Result<LineFinder> LineFinder::Make(const std::string& skipped) {
  LineFinder finder;
  if (skipped.empty()) {
    return finder;
  }
  AskForMemory(kExpressionBytes);
  auto made = std::make_shared<const Skipped>(skipped);
  if (!made->files.ok()) {
    return UsageError(
        fmt::format("'{}' is no regular expression: {}", skipped, made->files.error()), "",
        "skip_frames");
  }
  finder.skipped_ = std::move(made);
  return finder;
}

bool LineFinder::IsSkipped(std::string_view file) const {
  return file.empty() || (skipped_ != nullptr && RE2::PartialMatch(file, skipped_->files));
}

bool LineFinder::IsOfUser(std::string_view file) const {
  return !IsOfLibrary(file) && !IsSkipped(file);
}

std::string LineFinder::LineOf(const std::vector<ProgramFrame>& frames) const {
  for (const ProgramFrame& frame : frames) {
    if (IsOfUser(frame.file)) {
      return LineText(frame);
    }
  }
  for (const ProgramFrame& frame : frames) {
    if (!IsOfTorch(frame.file) && !IsSkipped(frame.file)) {
      return LineText(frame);
    }
  }
  return {};
}

}  // namespace borescope::internal
