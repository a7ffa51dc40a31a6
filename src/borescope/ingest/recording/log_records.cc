#include "borescope/ingest/recording/log_records.h"

namespace borescope::internal {
namespace {

template <class T>
constexpr size_t kWordsOf = sizeof(T) / sizeof(uint64_t);

size_t PlainWords(recording::RecordType type) {
  using Type = recording::RecordType;
  switch (type) {
    case Type::kString:
    case Type::kProcess:
      return 0;
    case Type::kPush:
    case Type::kPop:
    case Type::kMark:
    case Type::kPythonCall:
    case Type::kPythonReturn:
    case Type::kPythonCode:
    case Type::kDevice:
    case Type::kState:
      return 1;
    case Type::kThread:
    case Type::kRangeStart:
    case Type::kRangeEnd:
    case Type::kName:
    case Type::kExternal:
    case Type::kSample:
    case Type::kEnd:
      return 2;
    case Type::kOverhead:
    case Type::kDropped:
      return 3;
    case Type::kAnchor:
    case Type::kCall:
    case Type::kCallDetail:
    case Type::kSync:
    case Type::kGraphRun:
      return 4;
    case Type::kOperator:
      return 5;
    case Type::kMemory:
      return 6;
    case Type::kKernel:
      return kWordsOf<recording::KernelBody>;
    case Type::kCopy:
    case Type::kSet:
      return kWordsOf<recording::CopyBody>;
    case Type::kEndOfChunk:
      break;
  }
  return kUnknownRecord;
}

}  // namespace

size_t LeastWords(const recording::RecordHead& head) {
  using Type = recording::RecordType;
  const auto type = static_cast<Type>(head.type);
  const bool may_have_attributes =
      type == Type::kPush || type == Type::kMark || type == Type::kRangeStart;
  const bool has_thread = type == Type::kOperator && (head.flags & recording::kHasThread) != 0;
  return PlainWords(type) + (has_thread ? 1 : 0) +
         (may_have_attributes && (head.flags & recording::kHasAttributes) != 0
              ? kWordsOf<recording::Attributes>
              : 0);
}

}  // namespace borescope::internal
