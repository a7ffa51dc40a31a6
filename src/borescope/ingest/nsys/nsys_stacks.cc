#include "borescope/ingest/nsys/nsys_stacks.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

enum LinkColumn : uint8_t { kChain, kSymbol, kModule, kUnresolved, kDepth };
constexpr std::string_view kLinkColumns[] = {"id", "symbol", "module", "unresolved", "stackDepth"};

// "libcuda.so.525" of "/usr/lib/libcuda.so.525".
std::string_view LastPart(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Result<FrameOfChain> NsysStacks::Read(const DatabaseInput& input, std::string_view table) {
  BS_ASSIGN(TableRows rows, TableRows::Open(input, table, kLinkColumns, part_.data.diagnostics));
  std::vector<Link> links;
  BS_TRY(rows.ForEach(
      [&] { links.push_back({rows.Integer(kChain), rows.Integer(kDepth, 0), FrameName(rows)}); }));
  return AddFrames(links);
}

// Addresses differ from call to call: what has no symbol is named by its module.
StringId NsysStacks::FrameName(TableRows& row) {
  const StringId symbol = strings_.Find(row.Integer(kSymbol));
  const std::string_view text = symbol.valid() ? part_.data.strings.Get(symbol) : "";
  if (!text.empty() && !text.starts_with("0x") && row.Integer(kUnresolved, 0) == 0) {
    return symbol;
  }
  const StringId module = strings_.Find(row.Integer(kModule));
  const auto [place, is_new] =
      unresolved_.try_emplace(module.valid() ? module.value : kNoDetail, StringId());
  if (is_new) {
    const std::string name(module.valid() ? LastPart(part_.data.strings.Get(module)) : "unknown");
    place->second = part_.Intern(name.starts_with("[") ? name : "[" + name + "]");
  }
  return place->second;
}

uint32_t NsysStacks::FrameBelow(uint32_t parent, StringId name) {
  StackFrames& frames = part_.data.stack_frames;
  const uint64_t key = uint64_t{parent} << 32 | name.value;
  const auto [place, is_new] = frames_.try_emplace(key, static_cast<uint32_t>(frames.size()));
  if (is_new) {
    frames.name.push_back(name);
    frames.parent.push_back(parent);
  }
  return place->second;
}

FrameOfChain NsysStacks::AddFrames(std::vector<Link>& links) {
  std::stable_sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tuple(a.chain, b.depth) < std::tuple(b.chain, a.depth);  // outermost first
  });
  FrameOfChain innermost;
  for (size_t i = 0; i < links.size(); ++i) {
    CheckStopAt(i);
    const bool is_outermost = i == 0 || links[i].chain != links[i - 1].chain;
    uint32_t& frame = innermost[links[i].chain];
    frame = FrameBelow(is_outermost ? kNoDetail : frame, links[i].name);
  }
  return innermost;
}

}  // namespace borescope::internal
