#include "borescope/engine/capture_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

// Files in which others found how their graphs were captured.
std::set<std::string> UsedCaptures(const std::vector<RankPart>& parts) {
  std::set<std::string> used;
  for (const RankPart& part : parts) {
    if (MayUseCaptures(part)) {
      used.insert(part.graphs.captures.begin(), part.graphs.captures.end());
    }
  }
  return used;
}

RankPart PassedOver(const RankPart& part) {
  RankPart aside;
  aside.report.path = part.report.path;
  aside.from_directory = part.from_directory;
  aside.load_error = Error{ErrorCode::kUnsupportedFormat,
                           "a capture of graphs that other files launch",
                           {},
                           part.report.path};
  aside.report.error = WithOptions(aside.load_error->Sentence());
  aside.report.skipped = true;
  return aside;
}

// A capture that is not among the files that were searched; nullptr: none. `captures` ascends.
const std::string* Unsearched(std::vector<std::string> searched,
                              const std::vector<std::string>& captures) {
  std::sort(searched.begin(), searched.end());
  const auto found = std::find_if(captures.begin(), captures.end(), [&](const std::string& path) {
    return !std::binary_search(searched.begin(), searched.end(), path);
  });
  return found == captures.end() ? nullptr : &*found;
}

}  // namespace

bool MayUseCaptures(const RankPart& part) {
  return part.loaded() && !part.graphs.only_captures && part.graphs.may_replay;
}

std::vector<std::string> CapturesAmong(const std::vector<RankPart>& parts) {
  std::vector<std::string> captures;
  for (const RankPart& part : parts) {
    if (part.loaded() && part.graphs.only_captures) captures.push_back(part.report.path);
  }
  return captures;
}

void SetAsideCaptures(std::vector<RankPart>& parts) {
  const std::set<std::string> used = UsedCaptures(parts);
  for (RankPart& part : parts) {
    if (part.loaded() && part.graphs.only_captures && used.contains(part.report.path)) {
      part = PassedOver(part);
    }
  }
}

Result<void> CheckCapturesWereSearched(const std::vector<RankPart>& parts) {
  std::vector<std::string> captures = CapturesAmong(parts);
  std::sort(captures.begin(), captures.end());
  if (captures.empty()) return {};
  for (const RankPart& part : parts) {
    if (!MayUseCaptures(part)) continue;
    if (const std::string* const capture = Unsearched(part.graphs.searched, captures)) {
      const std::string where = ToPrintable(*capture);
      return Error{
          ErrorCode::kInvalidArgument,
          fmt::format("it launches graphs that may have been captured in {}, which another "
                      "process mapped",
                      where),
          fmt::format("map again with `captures` {}", where), part.report.path};
    }
  }
  return {};
}

}  // namespace borescope::internal
