#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/ingest/pickle/plain_reader.h"

namespace borescope::internal {
namespace {

constexpr size_t kStackValues = size_t{1} << 22;     // on the stack at once
constexpr size_t kOpenContainers = size_t{1} << 20;  // of them not complete
constexpr size_t kMarks = PlainStore::kNesting;
constexpr uint32_t kNoMemo = UINT32_MAX;

std::string Grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

// The names of opcodes that are refused because they run code or build objects; pickletools.py.
std::string_view NameOfRefused(unsigned char opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'b':
      return "BUILD";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 0x82:
      return "EXT1";
    case 0x83:
      return "EXT2";
    case 0x84:
      return "EXT4";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    default:
      return {};
  }
}

// Bytes of a source, with some of the next ones in memory.
class Lookahead {
 public:
  explicit Lookahead(ByteSource& source) : source_(source) {}

  // `count` bytes from here on; nullptr where the source ends before, or fails.
  const unsigned char* Take(size_t count) {
    if (end_ - at_ < count && !Fill(count)) {
      return nullptr;
    }
    const char* const bytes = buffer_.data() + at_;
    at_ += count;
    return reinterpret_cast<const unsigned char*>(bytes);
  }

  uint64_t offset() const { return before_ + at_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  bool Fill(size_t count) {
    constexpr size_t kFirst = size_t{4} << 10U;
    constexpr size_t kMost = size_t{256} << 10U;
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    before_ += at_;
    at_ = 0;
    // Little at first: it is set to zeros, which takes longer than to read a small dump.
    buffer_.resize(std::max(std::clamp(2 * buffer_.size(), kFirst, kMost), count));
    while (end_ < count) {
      const Result<size_t> got = source_.Read(buffer_.data() + end_, buffer_.size() - end_);
      if (!got.ok()) {
        error_ = got.error();
        return false;
      }
      if (*got == 0) {
        return false;
      }
      end_ += *got;
    }
    return true;
  }

  ByteSource& source_;
  std::vector<char> buffer_ = std::vector<char>(1);
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t before_ = 0;  // bytes of the source before the buffer
  std::optional<Error> error_;
};

uint64_t LittleEndian(const unsigned char* bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value |= uint64_t{bytes[i]} << (8 * i);
  }
  return value;
}

// The machine of pickles: a stack of values, marks on it, and a memo.
class PickleReader {
 public:
  PickleReader(ByteSource& source, PlainStore& store, PlainFolder& folder)
      : in_(source), store_(store), folder_(folder) {}

  Result<PlainRead> Read() {
    bool goes_on = true;
    for (size_t i = 0; goes_on && !is_done_; ++i) {
      CheckStopAt(i);
      at_ = in_.offset();
      const unsigned char* const opcode = in_.Take(1);
      goes_on = opcode == nullptr ? Cut() : Run(*opcode);
    }
    if (is_cut_ && !error_.has_value()) {
      Unwind();
    }
    if (error_.has_value()) {
      return *error_;
    }
    return PlainRead{
        .root = root_, .is_cut = is_cut_, .cut_texts = cut_texts_, .bytes = in_.offset()};
  }

 private:
  // A container on the stack that something may still be added to.
  struct Open {
    PlainKind kind = PlainKind::kList;
    bool is_used = false;
    bool is_folded = false;
    bool is_filled = false;  // something was added
    PlainValue folded;
    uint32_t memo = kNoMemo;
    size_t place = 0;  // on the stack
    std::vector<PlainValue> items;
  };

  // All of these are false: what went wrong is in error_, or the file ends.
  bool Bad(std::string cause) {
    error_ = Error{.code = ErrorCode::kCorrupt, .cause = std::move(cause), .offset = at_};
    return false;
  }
  bool Cut() {
    is_cut_ = true;
    error_ = in_.error();
    return false;
  }

  bool Refused(unsigned char opcode) {
    const std::string_view name = NameOfRefused(opcode);
    if (name.empty()) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      error_ = Error{.code = ErrorCode::kUnsupportedFormat,
                     .cause = std::string("opcode 0x") + kDigits[opcode >> 4U] +
                              kDigits[opcode & 15U] + " at byte " + Grouped(at_) +
                              ": a flight recorder dump or memory snapshot has none of that kind"};
      return false;
    }
    error_ =
        Error{.code = ErrorCode::kUnsupportedFormat,
              .cause = "opcode " + std::string(name) + " at byte " + Grouped(at_) +
                       ": this file asks to run code; a flight recorder dump or memory snapshot "
                       "does not"};
    return false;
  }

  bool Run(unsigned char opcode) {
    switch (opcode) {
      case 0x80:
        return Protocol();
      case 0x95:  // FRAME: its length says nothing that the bytes do not
        return in_.Take(8) != nullptr || Cut();
      case '.':
        return Stop();
      case 'N':
        return Push({});
      case 0x88:
        return Push(PlainBool(true));
      case 0x89:
        return Push(PlainBool(false));
      case 'J':
        return PushInt(4);
      case 'K':
        return PushInt(1);
      case 'M':
        return PushInt(2);
      case 0x8a:
        return PushLong(1);
      case 0x8b:
        return PushLong(4);
      case 'G':
        return PushFloat();
      case 'X':
      case 'B':
        return PushText(4);
      case 0x8c:
      case 'C':
        return PushText(1);
      case 0x8d:
        return PushText(8);
      default:
        return RunOnContainers(opcode);
    }
  }

  bool RunOnContainers(unsigned char opcode) {
    switch (opcode) {
      case '}':
        return PushOpen(PlainKind::kDict);
      case ']':
        return PushOpen(PlainKind::kList);
      case ')':
        return PushTuple(0);
      case '(':
        return Mark();
      case 's':
        return Add(PlainKind::kDict, 2);
      case 'u':
        return AddMarked(PlainKind::kDict);
      case 'a':
        return Add(PlainKind::kList, 1);
      case 'e':
        return AddMarked(PlainKind::kList);
      case 0x85:
        return PushTuple(1);
      case 0x86:
        return PushTuple(2);
      case 0x87:
        return PushTuple(3);
      case 't':
        return PushMarkedTuple();
      case '0':
        return Pop();
      case 'q':
        return PutAt(1);
      case 'r':
        return PutAt(4);
      case 0x94:
        return Put(memo_.size());
      case 'h':
        return GetAt(1);
      case 'j':
        return GetAt(4);
      default:
        return Refused(opcode);
    }
  }

  // A number of the file, of `bytes` bytes.
  bool Number(size_t bytes, uint64_t& number) {
    const unsigned char* const found = in_.Take(bytes);
    if (found == nullptr) {
      return Cut();
    }
    number = LittleEndian(found, bytes);
    return true;
  }

  bool Protocol() {
    uint64_t version = 0;
    if (!Number(1, version)) {
      return false;
    }
    if (version < 2 || version > 5) {
      error_ =
          Error{.code = ErrorCode::kUnsupportedFormat,
                .cause = "a pickle of protocol " + std::to_string(version) + "; 2 to 5 are read"};
      return false;
    }
    return true;
  }

  bool Push(PlainValue value) {
    if (stack_.size() >= kStackValues) {
      return Bad("more than " + Grouped(kStackValues) + " values wait on the stack");
    }
    stack_.push_back(value);
    return true;
  }

  bool PushInt(size_t bytes) {
    uint64_t value = 0;
    if (!Number(bytes, value)) {
      return false;
    }
    return Push(PlainInt(bytes == 4 ? static_cast<int32_t>(static_cast<uint32_t>(value))
                                    : static_cast<int64_t>(value)));
  }

  bool PushLong(size_t length_bytes) {
    uint64_t length = 0;
    if (!Number(length_bytes, length)) {
      return false;
    }
    if (length > 9) {
      return Bad("a number of " + Grouped(length) + " bytes");
    }
    const unsigned char* const bytes = in_.Take(length);
    if (bytes == nullptr) {
      return Cut();
    }
    const uint64_t low = LittleEndian(bytes, std::min<size_t>(length, 8));
    if (length == 9) {
      if (bytes[8] != 0 || low >> 63U == 0) {
        return Bad("a number beyond 64 bits");
      }
      return Push({.kind = PlainKind::kWide, .bits = low});
    }
    const bool is_negative = length > 0 && (bytes[length - 1] & 0x80U) != 0;
    const uint64_t sign = is_negative && length < 8 ? ~uint64_t{0} << (8 * length) : 0;
    return Push({.kind = PlainKind::kInt, .bits = low | sign});
  }

  bool PushFloat() {
    const unsigned char* const bytes = in_.Take(8);
    if (bytes == nullptr) {
      return Cut();
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < 8; ++i) {
      bits = (bits << 8U) | bytes[i];
    }
    return Push({.kind = PlainKind::kFloat, .bits = bits});
  }

  bool PushText(size_t length_bytes) {
    uint64_t length = 0;
    if (!Number(length_bytes, length)) {
      return false;
    }
    const size_t kept = std::min<uint64_t>(length, PlainStore::kTextBytes);
    const unsigned char* const bytes = in_.Take(kept);
    if (bytes == nullptr) {
      return Cut();
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes), kept);
    cut_texts_ += kept < length ? 1 : 0;
    if (!Push(IsValidUtf8(text) ? store_.InternValue(text)
                                : store_.InternValue(ToValidUtf8(text)))) {
      return false;
    }
    for (uint64_t left = length - kept; left > 0;) {
      CheckStop();
      const size_t piece = std::min<uint64_t>(left, PlainStore::kTextBytes);
      if (in_.Take(piece) == nullptr) {
        return Cut();
      }
      left -= piece;
    }
    return true;
  }

  bool PushOpen(PlainKind kind) {
    uint32_t number = 0;
    if (!free_.empty()) {
      number = free_.back();
      free_.pop_back();
    } else if (open_.size() >= kOpenContainers) {
      return Bad("more than " + Grouped(kOpenContainers) + " containers are open");
    } else {
      number = static_cast<uint32_t>(open_.size());
      open_.emplace_back();
    }
    Open& open = open_[number];
    open.kind = kind;
    open.is_used = true;
    open.is_folded = false;
    open.is_filled = false;
    open.memo = kNoMemo;
    open.place = stack_.size();
    open.items.clear();
    return Push({.kind = PlainKind::kOpen, .bits = number});
  }

  // The value of an open container, to which nothing can be added any more.
  bool Close(uint64_t number, PlainValue& value) {
    Open& open = open_[number];
    value = open.folded;
    if (!open.is_folded) {
      if (!open.is_filled && open.kind == PlainKind::kDict) {
        open.items.clear();
      }
      const std::optional<PlainValue> kept = store_.Keep(open.kind, open.items);
      if (!kept.has_value()) {
        return Bad("values nest deeper than " + std::to_string(PlainStore::kNesting));
      }
      value = *kept;
    }
    if (open.memo != kNoMemo) {
      memo_[open.memo] = Pack(value);
    }
    open.is_used = false;
    if (open.items.capacity() > kKeptCapacity) {
      open.items = {};
    }
    free_.push_back(static_cast<uint32_t>(number));
    return true;
  }

  // Completes what is on the stack from `begin` on.
  bool CloseFrom(size_t begin) {
    for (size_t i = begin; i < stack_.size(); ++i) {
      if (stack_[i].kind == PlainKind::kOpen) {
        if (!Close(stack_[i].bits, stack_[i])) {
          return false;
        }
      }
    }
    return true;
  }

  bool Mark() {
    if (marks_.size() >= kMarks) {
      return Bad("values nest deeper than " + std::to_string(kMarks));
    }
    marks_.push_back(stack_.size());
    return true;
  }

  // Where values may be taken from: above the last mark.
  size_t Floor() const { return marks_.empty() ? 0 : marks_.back(); }

  bool TakeMark(size_t& mark) {
    if (marks_.empty()) {
      return Bad("no mark is on the stack");
    }
    mark = marks_.back();
    marks_.pop_back();
    return true;
  }

  bool AddMarked(PlainKind kind) {
    size_t mark = 0;
    return TakeMark(mark) && AddFrom(kind, mark);
  }

  bool Add(PlainKind kind, size_t count) {
    if (stack_.size() < Floor() + count + 1) {
      return Bad("too few values on the stack");
    }
    return AddFrom(kind, stack_.size() - count);
  }

  // Adds what is on the stack from `begin` on to the container below.
  bool AddFrom(PlainKind kind, size_t begin) {
    if (begin <= Floor() || stack_[begin - 1].kind != PlainKind::kOpen ||
        open_[stack_[begin - 1].bits].kind != kind) {
      return Bad("values are added to what is no container, or was used already");
    }
    if (kind == PlainKind::kDict && (stack_.size() - begin) % 2 != 0) {
      return Bad("a dictionary has a key without a value");
    }
    if (!CloseFrom(begin)) {
      return false;
    }
    const std::span<const PlainValue> items = std::span(stack_).subspan(begin);
    Open& open = open_[stack_[begin - 1].bits];
    if (!items.empty() &&
        !(kind == PlainKind::kDict ? AddMembers(open, items) : AddElements(open, items))) {
      return false;
    }
    stack_.resize(begin);
    return true;
  }

  bool AddMembers(Open& open, std::span<const PlainValue> items) {
    if (open.is_folded) {
      return Bad("a dictionary of more than 1,000 members where a small one is expected");
    }
    if (!open.is_filled) {
      open.is_filled = true;
      if (const std::optional<PlainValue> folded = folder_.FoldDict(items); folded.has_value()) {
        open.is_folded = true;
        open.folded = *folded;
        return true;
      }
    }
    open.items.insert(open.items.end(), items.begin(), items.end());
    return true;
  }

  bool AddElements(Open& open, std::span<const PlainValue> items) {
    if (!open.is_filled || open.is_folded) {
      const std::optional<PlainValue> folded =
          folder_.FoldList(open.is_folded ? std::optional(open.folded) : std::nullopt, items);
      if (folded.has_value()) {
        open.is_folded = true;
        open.folded = *folded;
      }
    }
    open.is_filled = true;
    if (!open.is_folded) {
      open.items.insert(open.items.end(), items.begin(), items.end());
    }
    return true;
  }

  bool PushTuple(size_t count) {
    if (stack_.size() < Floor() + count) {
      return Bad("too few values on the stack");
    }
    return MakeTuple(stack_.size() - count);
  }

  bool PushMarkedTuple() {
    size_t mark = 0;
    return TakeMark(mark) && MakeTuple(mark);
  }

  bool MakeTuple(size_t begin) {
    if (!CloseFrom(begin)) {
      return false;
    }
    const std::optional<PlainValue> kept =
        store_.Keep(PlainKind::kTuple, std::span(stack_).subspan(begin));
    if (!kept.has_value()) {
      return Bad("values nest deeper than " + std::to_string(PlainStore::kNesting));
    }
    stack_.resize(begin);
    return Push(*kept);
  }

  bool Pop() {
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
      return true;
    }
    if (stack_.size() <= Floor()) {
      return Bad("too few values on the stack");
    }
    if (!CloseFrom(stack_.size() - 1)) {
      return false;
    }
    stack_.pop_back();
    return true;
  }

  // A value of the memo in 8 bytes: 4 bits of kind, 4 of shape, 56 of bits. Numbers that need more
  // lie in wide_, as a folded one of shape 15 of the kind kOpen.
  uint64_t Pack(PlainValue value) {
    if (value.bits > kMostBits) {
      wide_.push_back(value);
      value = {.kind = PlainKind::kOpen, .shape = kWideShape, .bits = wide_.size() - 1};
    }
    return (static_cast<uint64_t>(value.kind) << 60U) | (uint64_t{value.shape & 15U} << 56U) |
           value.bits;
  }

  bool PutAt(size_t bytes) {
    uint64_t index = 0;
    return Number(bytes, index) && Put(index);
  }

  bool Put(uint64_t index) {
    // Each entry takes at least two bytes of the file: its value and the opcode.
    if (index > in_.offset() / 2) {
      return Bad("the memo has an entry " + Grouped(index) + " after " + Grouped(in_.offset()) +
                 " bytes");
    }
    if (stack_.size() <= Floor()) {
      return Bad("too few values on the stack");
    }
    const PlainValue value = stack_.back();
    if (value.kind == PlainKind::kOpen) {
      Open& open = open_[value.bits];
      if (open.memo != kNoMemo) {
        return Bad("a container has two entries in the memo");
      }
      open.memo = static_cast<uint32_t>(index);
    }
    if (index >= memo_.size()) {
      memo_.resize(index + 1, kUnused);
    } else if (memo_[index] != kUnused) {
      return Bad("an entry of the memo is written twice");
    }
    memo_[index] = value.kind == PlainKind::kOpen
                       ? (static_cast<uint64_t>(PlainKind::kOpen) << 60U) | value.bits
                       : Pack(value);
    return true;
  }

  bool GetAt(size_t bytes) {
    uint64_t index = 0;
    if (!Number(bytes, index)) {
      return false;
    }
    if (index >= memo_.size() || memo_[index] == kUnused) {
      return Bad("the memo has no entry " + Grouped(index));
    }
    const auto kind = static_cast<PlainKind>(memo_[index] >> 60U);
    const auto shape = static_cast<uint8_t>((memo_[index] >> 56U) & 15U);
    const uint64_t bits = memo_[index] & kMostBits;
    if (kind != PlainKind::kOpen) {
      return Push({.kind = kind, .shape = shape, .bits = bits});
    }
    if (shape == kWideShape) {
      return Push(wide_[bits]);
    }
    // It is on the stack, and complete if this file is none that holds itself: who adds to it from
    // here on is refused.
    const size_t place = open_[bits].place;
    return Close(bits, stack_[place]) && Push(stack_[place]);
  }

  bool Stop() {
    if (stack_.empty()) {
      return Bad("the pickle ends without a value");
    }
    if (!CloseFrom(stack_.size() - 1)) {
      return false;
    }
    root_ = stack_.back();
    is_done_ = true;
    return true;
  }

  // The file ends in the middle: keeps what is complete.
  void Unwind() {
    while (!marks_.empty()) {
      const size_t mark = marks_.back();
      marks_.pop_back();
      const bool is_open = mark > Floor() && stack_[mark - 1].kind == PlainKind::kOpen;
      if (is_open && open_[stack_[mark - 1].bits].kind == PlainKind::kList) {
        if (!AddFrom(PlainKind::kList, mark)) {
          return;
        }
      } else if (is_open && mark == 1) {
        if (!CompleteOutermost()) {
          return;
        }
      } else {
        stack_.resize(is_open ? mark - 1 : mark);  // a dictionary that lacks members
      }
    }
    if (!stack_.empty() && CloseFrom(0)) {
      root_ = stack_.front();
    }
  }

  // The outermost dictionary of a file that ends in the middle, at the bottom of the stack.
  bool CompleteOutermost() {
    // A list of one element has no mark: the list and its element are still beside each other.
    while (stack_.size() > 3 && stack_.size() % 2 == 0 && !stack_.back().IsText()) {
      const PlainValue below = stack_[stack_.size() - 2];
      if (below.kind == PlainKind::kOpen && open_[below.bits].kind == PlainKind::kList) {
        if (!AddFrom(PlainKind::kList, stack_.size() - 1)) {
          return false;
        }
      } else {
        stack_.pop_back();
      }
    }
    if (stack_.size() % 2 == 0) {
      stack_.pop_back();  // a key without its value
    }
    return stack_.size() < 3 || AddFrom(PlainKind::kDict, 1);
  }

  static constexpr uint8_t kWideShape = 15;
  static constexpr uint64_t kMostBits = (uint64_t{1} << 56U) - 1;
  static constexpr uint64_t kUnused = ~uint64_t{0};
  static constexpr size_t kKeptCapacity = 4096;

  Lookahead in_;
  PlainStore& store_;
  PlainFolder& folder_;
  std::vector<PlainValue> stack_;
  std::vector<size_t> marks_;
  std::vector<Open> open_;
  std::vector<uint32_t> free_;
  std::vector<uint64_t> memo_;
  std::vector<PlainValue> wide_;
  PlainValue root_;
  std::optional<Error> error_;
  uint64_t at_ = 0;  // of the opcode
  uint64_t cut_texts_ = 0;
  bool is_cut_ = false;
  bool is_done_ = false;
};

}  // namespace

Result<PlainRead> ReadPickle(ByteSource& source, PlainStore& store, PlainFolder& folder) {
  return PickleReader(source, store, folder).Read();
}

}  // namespace borescope::internal
