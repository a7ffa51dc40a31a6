#include "borescope/postmortem/memory/oom.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace borescope::internal::postmortem {

namespace {

// Longer ones first. With an i they are powers of two.
constexpr std::array<std::pair<std::string_view, double>, 18> kUnits = {{{"bytes", 1},
                                                                         {"B", 1},
                                                                         {"KiB", 0x1p10},
                                                                         {"MiB", 0x1p20},
                                                                         {"GiB", 0x1p30},
                                                                         {"TiB", 0x1p40},
                                                                         {"KB", 1e3},
                                                                         {"MB", 1e6},
                                                                         {"GB", 1e9},
                                                                         {"TB", 1e12},
                                                                         {"Ki", 0x1p10},
                                                                         {"Mi", 0x1p20},
                                                                         {"Gi", 0x1p30},
                                                                         {"Ti", 0x1p40},
                                                                         {"K", 1e3},
                                                                         {"M", 1e6},
                                                                         {"G", 1e9},
                                                                         {"T", 1e12}}};

// The amount that begins `text`, and how many characters it takes.
std::optional<std::pair<ByteRange, size_t>> ReadAmount(std::string_view text) {
  size_t digits = 0;
  size_t decimals = 0;
  bool has_point = false;
  for (const char c : text) {
    if (c == '.' && !has_point) {
      has_point = true;
    } else if (c >= '0' && c <= '9') {
      decimals += has_point ? 1 : 0;
    } else {
      break;
    }
    ++digits;
  }
  const std::string_view number = text.substr(0, digits);
  double value = 0;
  if (digits == 0 || digits > 20 ||
      std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  size_t at = digits;
  if (at < text.size() && text[at] == ' ') ++at;
  for (const auto& [unit, factor] : kUnits) {
    if (!text.substr(at).starts_with(unit)) continue;
    const double half = factor == 1 ? 0 : factor * std::pow(10, -static_cast<double>(decimals)) / 2;
    const double low = std::ceil(std::max(0.0, value * factor - half));
    const double high = std::floor(value * factor + half);
    if (high >= 0x1p62) return std::nullopt;
    return std::pair(ByteRange{static_cast<uint64_t>(low), static_cast<uint64_t>(high)},
                     at + unit.size());
  }
  return std::nullopt;
}

// The amount after `before`, or before `after`.
std::optional<ByteRange> AmountAfter(std::string_view text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const auto amount = ReadAmount(text.substr(at + before.size()));
  return amount.has_value() ? std::optional(amount->first) : std::nullopt;
}
std::optional<ByteRange> AmountBefore(std::string_view text, std::string_view after) {
  const size_t end = text.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  // Two words: the number and its unit.
  size_t begin = text.substr(0, end).rfind(' ');
  if (begin == std::string_view::npos || begin == 0) return std::nullopt;
  begin = text.substr(0, begin).rfind(' ');
  begin = begin == std::string_view::npos ? 0 : begin + 1;
  const auto amount = ReadAmount(text.substr(begin, end - begin));
  return amount.has_value() ? std::optional(amount->first) : std::nullopt;
}

}  // namespace

std::optional<ByteRange> ParseByteRange(std::string_view text) {
  const auto amount = ReadAmount(text);
  if (amount.has_value() && amount->second == text.size()) return amount->first;
  uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return ByteRange{bytes, bytes};
}

namespace {

uint64_t MiddleOf(const ByteRange& range) { return range.low + (range.high - range.low) / 2; }

// "(GPU 3; 79.35 GiB total capacity; 70.10 GiB already allocated; 1.19 GiB free; 76.50 GiB reserved
// in total by PyTorch)", up to version 2.0; before 1.4 what is free was "cached".
void ReadOldMessage(std::string_view text, OomMessage& message) {
  message.total = AmountBefore(text, " total capacity;");
  message.allocated = AmountBefore(text, " already allocated;");
  message.device_free = AmountBefore(text, " free;");
  message.unallocated = AmountBefore(text, " cached)");
  const std::optional<ByteRange> reserved = AmountBefore(text, " reserved in total by PyTorch");
  if (reserved.has_value() && message.allocated.has_value()) {
    const auto less = [](uint64_t a, uint64_t b) { return a > b ? a - b : 0; };
    message.unallocated = {less(reserved->low, message.allocated->high),
                           less(reserved->high, message.allocated->low)};
  }
}

// Bytes of other processes on the device.
uint64_t OtherProcesses(std::string_view text, const OomMessage& message) {
  constexpr std::string_view kProcess = "Process ";
  constexpr size_t kMostProcesses = 1000;
  uint64_t sum = 0;
  const uint64_t own = (message.allocated.has_value() ? message.allocated->low : 0) +
                       (message.unallocated.has_value() ? message.unallocated->low : 0);
  std::optional<uint64_t> best;
  size_t count = 0;
  for (size_t at = text.find(kProcess); at != std::string_view::npos && count < kMostProcesses;
       at = text.find(kProcess, at + 1), ++count) {
    const std::string_view rest = text.substr(at);
    const std::string_view sentence = rest.substr(0, rest.find(" memory in use"));
    const auto amount = AmountAfter(sentence, " has ");
    if (!amount.has_value()) continue;
    const uint64_t bytes = MiddleOf(*amount);
    sum += bytes;
    if (amount->high >= own && (!best.has_value() || bytes < *best)) best = bytes;
  }
  const bool is_own_named = text.find("this process has ") != std::string_view::npos;
  return is_own_named || own == 0 ? sum : best.has_value() ? sum - *best : 0;
}

}  // namespace

std::optional<OomMessage> ParseOomMessage(std::string_view text) {
  const size_t begin = text.find(" out of memory. Tried to allocate ");
  if (begin == std::string_view::npos) return std::nullopt;
  text = text.substr(begin);
  OomMessage message;
  message.requested = AmountAfter(text, "Tried to allocate ");
  message.allowed = AmountBefore(text, " allowed");
  if (text.find(" already allocated;") != std::string_view::npos) {
    ReadOldMessage(text, message);
    return message;
  }
  message.total = AmountAfter(text, "total capacity of ");
  // As version 2.1 wrote it.
  if (!message.total.has_value()) message.total = AmountAfter(text, "total capacty of ");
  message.device_free = AmountAfter(text, "of which ");
  message.allocated = AmountAfter(text, "Of the allocated memory ");
  message.private_pools = AmountBefore(text, " allocated in private pools");
  message.unallocated = AmountBefore(text, " is reserved by PyTorch but unallocated");
  message.other_processes_bytes = OtherProcesses(text, message);
  return message;
}

std::string_view Name(OomCause cause) {
  switch (cause) {
    case OomCause::kProcessLimit:
      return "process-limit";
    case OomCause::kOtherProcess:
      return "other-process";
    case OomCause::kFragmentation:
      return "fragmentation";
    case OomCause::kFull:
      return "full";
  }
  return "";
}

namespace {

// What the process may reserve where the driver had room: it reserved the most that it ever had,
// and was refused the next segment.
ByteRange AllowedByTrace(const OomState& state) {
  const uint64_t refused = state.reserved + state.asked;
  const uint64_t low = std::max(state.peak_reserved, state.reserved);
  return {low, std::max(low, refused - 1)};
}

// Free memory that the request cannot use, and that a retry does not give back.
bool IsFragmented(const OomReport& report) {
  const OomState& state = report.state;
  const MemoryParts& parts = state.parts;
  const uint64_t kept = parts.free() - std::min(parts.free(), parts.releasable);
  if (parts.usable != 0 || kept < state.size) return false;
  const uint64_t room = report.capacity.has_value()  ? *report.capacity
                        : report.allowed.has_value() ? report.allowed->high
                                                     : 0;
  return parts.requested + parts.slack + state.size <= room;
}

}  // namespace

OomReport ExplainOom(const OomState& state, const std::optional<ByteRange>& limit,
                     const std::optional<OomMessage>& message) {
  OomReport report;
  report.state = state;
  const bool driver_had_room = state.device_free >= state.needed;
  if (driver_had_room) {
    const ByteRange by_trace = AllowedByTrace(state);
    report.allowed = by_trace;
    const std::optional<ByteRange> given =
        limit.has_value() || !message.has_value() ? limit : message->allowed;
    if (given.has_value()) {  // both hold
      const ByteRange both = {std::max(by_trace.low, given->low),
                              std::min(by_trace.high, given->high)};
      report.allowed = both.low <= both.high ? both : *given;
      report.is_allowed_given = true;
    }
    report.causes.push_back(OomCause::kProcessLimit);
  } else {
    report.capacity = state.reserved + state.device_free;
  }
  if (message.has_value() && message->total.has_value()) {
    const uint64_t total = message->total->low + (message->total->high - message->total->low) / 2;
    const uint64_t own = state.device_free + state.reserved;
    report.other_bytes = total > own ? total - own : 0;
    if (!driver_had_room && *report.other_bytes >= total / 20 &&
        *report.other_bytes >= state.size) {
      report.causes.push_back(OomCause::kOtherProcess);
    }
  }
  if (IsFragmented(report)) report.causes.push_back(OomCause::kFragmentation);
  if (report.causes.empty()) report.causes.push_back(OomCause::kFull);
  return report;
}

}  // namespace borescope::internal::postmortem
