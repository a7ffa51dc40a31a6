#include "borescope/analysis/measures/collective_kinds.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "borescope/base/text/text.h"
#include "borescope/opmodel/values/scalar_type.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {
namespace {

struct SpellingRow {
  CollectiveKind kind;
  std::string_view words;  // any of them in the name, in lower case, separated by '|'
};

// First match wins: longer words stand before the ones they contain.
constexpr SpellingRow kSpellings[] = {
    {CollectiveKind::kBarrier, "barrier"},
    {CollectiveKind::kAllReduce, "allreduce|all_reduce"},
    {CollectiveKind::kReduceScatter, "reduce_scatter|reducescatter"},
    {CollectiveKind::kAllGather, "allgather|all_gather"},
    {CollectiveKind::kAllToAll, "all_to_all|alltoall|all2all"},
    {CollectiveKind::kBroadcast, "broadcast"},
    {CollectiveKind::kSendRecv, "sendrecv|send_recv|batch_isend_irecv"},
    {CollectiveKind::kSend, "send"},
    {CollectiveKind::kRecv, "recv"},
    {CollectiveKind::kGather, "gather"},
    {CollectiveKind::kScatter, "scatter"},
    {CollectiveKind::kReduce, "reduce"},
};

// Kernels of engines that have names of their own for it.
constexpr SpellingRow kKernelSpellings[] = {
    {CollectiveKind::kUnknown, "onerankreduce"},
    {CollectiveKind::kAllReduce,
     "cross_device_reduce|one_shot_all|two_shot_all|oneshotall|twoshotall|quickreduce|ar_fusion|"
     "lamport"},
};

// ProcessGroupGloo, ProcessGroupMPI and ProcessGroupUCC of PyTorch name their events so.
constexpr std::string_view kHostPrefixes[] = {"gloo:", "mpi:", "ucc:"};

constexpr std::string_view kOperatorPrefixes[] = {"nccl:",
                                                  "xccl:",
                                                  "c10d::",
                                                  "c10d_functional::",
                                                  "_c10d_functional::",
                                                  "symm_mem::",
                                                  "record_param_comms"};

bool HasAny(std::string_view text, std::string_view words) {
  while (!words.empty()) {
    const size_t bar = std::min(words.find('|'), words.size());
    if (Contains(text, words.substr(0, bar))) {
      return true;
    }
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return false;
}

bool HasPrefix(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes,
                             [name](std::string_view prefix) { return name.starts_with(prefix); });
}

template <size_t N>
const SpellingRow* FindSpelling(const SpellingRow (&rows)[N], std::string_view lower) {
  const SpellingRow* found = std::find_if(
      rows, rows + N, [lower](const SpellingRow& row) { return HasAny(lower, row.words); });
  return found == rows + N ? nullptr : found;
}

}  // namespace

std::string_view CollectiveKindName(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather",
      "scatter",    "send",       "recv",           "send_recv",  "barrier",   "unknown"};
  static_assert(std::size(kNames) == static_cast<size_t>(CollectiveKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

CollectiveKind KindOfRecordedName(std::string_view name) {
  const SpellingRow* row = FindSpelling(kSpellings, LowerCase(name));
  return row == nullptr ? CollectiveKind::kUnknown : row->kind;
}

bool IsHostCollective(std::string_view name) {
  return HasPrefix(name, kHostPrefixes) && KindOfRecordedName(name) != CollectiveKind::kUnknown;
}

bool IsCommunicationOperator(std::string_view name) {
  return HasPrefix(name, kOperatorPrefixes) || HasPrefix(name, kHostPrefixes);
}

CollectiveKind KindOfOperatorName(std::string_view name) {
  return IsCommunicationOperator(name) ? KindOfRecordedName(name) : CollectiveKind::kUnknown;
}

CollectiveKind KindOfKernelName(std::string_view name) {
  const std::string lower = LowerCase(name);
  if (const SpellingRow* row = FindSpelling(kKernelSpellings, lower)) {
    return row->kind;
  }
  // The last rows are everyday words, which decide only where the library writes nothing else.
  const SpellingRow* row = FindSpelling(kSpellings, lower);
  const bool is_library = lower.starts_with("nccl") || lower.starts_with("rccl");
  return row == nullptr || (row->kind > CollectiveKind::kAllToAll && !is_library)
             ? CollectiveKind::kUnknown
             : row->kind;
}

bool IsCommunication(std::string_view recorded_name) {
  return recorded_name != "wait" && recorded_name != "init";
}

bool EndsTogether(CollectiveKind kind) {
  return kind <= CollectiveKind::kAllToAll || kind == CollectiveKind::kBarrier ||
         kind == CollectiveKind::kUnknown;
}

std::optional<int64_t> ElementBytes(std::string_view dtype) {
  if (dtype == "Bits8") return 1;
  if (dtype == "Bits16") return 2;
  const int bits = BitsPerElement(ParseScalarType(dtype));
  return bits == 0 || bits % 8 != 0 ? std::nullopt : std::optional<int64_t>(bits / 8);
}

int64_t SideOfMessage(CollectiveKind kind, int64_t in, int64_t out) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return kMissing;
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
      return in;
    case CollectiveKind::kAllGather:
      return out;
    default:
      return std::max(in, out);
  }
}

std::optional<int64_t> MessageBytes(CollectiveKind kind, int64_t in_elems, int64_t out_elems,
                                    std::string_view dtype) {
  const int64_t elems = SideOfMessage(kind, in_elems, out_elems);
  const std::optional<int64_t> element = ElementBytes(dtype);
  int64_t bytes = 0;
  if (!element.has_value() || elems < 0 || __builtin_mul_overflow(elems, *element, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

int64_t CommonElems(CollectiveKind kind, int64_t in_elems, int64_t out_elems) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
      return in_elems;
    case CollectiveKind::kAllGather:
      return out_elems;
    default:
      return kMissing;
  }
}

std::optional<double> BusFactor(CollectiveKind kind, int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  switch (kind) {
    case CollectiveKind::kBarrier:
    case CollectiveKind::kUnknown:
    case CollectiveKind::kSendRecv:
      return std::nullopt;
    case CollectiveKind::kAllReduce:
      return ranks < 1 ? std::nullopt : std::optional(2 * (n - 1) / n);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return ranks < 1 ? std::nullopt : std::optional((n - 1) / n);
    default:
      return 1.0;
  }
}

}  // namespace borescope::internal
