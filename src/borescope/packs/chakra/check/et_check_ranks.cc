// The .et of the ranks of one run against each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "borescope/packs/chakra/check/et_check.h"
#include "borescope/packs/chakra/check/et_totals.h"

namespace borescope::internal {
namespace {

struct Call {
  int64_t kind = -1;
  int64_t bytes = 0;
};
using Calls = std::vector<Call>;

// By process group, in the order in which a simulator starts them.
std::map<std::string, Calls> CallsOf(const EtFile& et) {
  std::map<std::string, Calls> groups;
  for (const uint64_t id : IssueOrder(et)) {
    const EtNode& node = et.nodes[et.places.at(id)];
    if (node.type != EtNodeType::kCommColl) {
      continue;
    }
    const EtAttr* const group = node.Find("pg_name");
    groups[group == nullptr ? std::string() : std::string(group->bytes)].push_back(
        {IntAttr(node, "comm_type").value_or(-1), IntAttr(node, "comm_size").value_or(0)});
  }
  return groups;
}

// Parts of an all-to-all, a gather or a scatter may differ from rank to rank.
bool HasCommonSize(int64_t kind) {
  switch (static_cast<EtCollective>(kind)) {
    case EtCollective::kAllReduce:
    case EtCollective::kReduce:
    case EtCollective::kBroadcast:
    case EtCollective::kReduceScatter:
    case EtCollective::kReduceScatterBlock:
      return true;
    default:
      return false;
  }
}

bool Match(const Call& a, const Call& b) {
  return a.kind == b.kind && (!HasCommonSize(a.kind) || a.bytes == b.bytes);
}

std::string TextOf(const Calls& calls, size_t place) {
  if (place >= calls.size()) {
    return "nothing";
  }
  const std::string_view name = EtCollectiveName(static_cast<EtCollective>(calls[place].kind));
  return fmt::format("{} of {} bytes", name.empty() ? "an unknown one" : name, calls[place].bytes);
}

struct GroupReference {
  const std::string* file;
  Calls calls;
};

}  // namespace

void CheckCollectives(const std::vector<NamedEt>& files, std::vector<CheckRow>& rows) {
  if (files.size() < 2) {
    return;
  }
  CheckRow row{"", "collectives-match", CheckStatus::kOk, 0, ""};
  std::map<std::string, GroupReference> groups;
  for (const NamedEt& file : files) {
    for (auto& [group, calls] : CallsOf(*file.et)) {
      const auto [found, is_new] = groups.try_emplace(group, GroupReference{&file.file, calls});
      if (is_new) {
        continue;
      }
      const Calls& reference = found->second.calls;
      const auto [a, b] =
          std::mismatch(reference.begin(), reference.end(), calls.begin(), calls.end(), Match);
      if (a == reference.end() && b == calls.end()) {
        continue;
      }
      const auto place = static_cast<size_t>(a - reference.begin());
      row.count += 1;
      row.status = CheckStatus::kFailed;
      if (row.first.empty()) {
        row.first = fmt::format("group '{}', call {}: {} in {}, {} in {}", group, place + 1,
                                TextOf(reference, place), *found->second.file, TextOf(calls, place),
                                file.file);
      }
    }
  }
  rows.push_back(row);
}

}  // namespace borescope::internal
