#include "borescope/recorder/process_facts.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <string_view>

#include "borescope/base/io/byte_source.h"

namespace borescope::internal {

namespace {

uint64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
  return static_cast<uint64_t>(now.tv_sec) * kNanosecondsPerSecond +
         static_cast<uint64_t>(now.tv_nsec);
}

ClockReading ReadOnce() {
  const uint64_t before = MonotonicNow();
  const uint64_t real = Nanoseconds(CLOCK_REALTIME);
  const uint64_t boot = Nanoseconds(CLOCK_BOOTTIME);
  const uint64_t half = (MonotonicNow() - before) / 2;
  return {before + half, real, boot, half + 1};
}

}  // namespace

uint64_t MonotonicNow() { return Nanoseconds(CLOCK_MONOTONIC); }

// The tightest of some: another program may have run between the readings of one.
ClockReading ReadClocks() {
  constexpr int kReadings = 16;
  ClockReading best = ReadOnce();
  for (int i = 1; i < kReadings; ++i) {
    const ClockReading reading = ReadOnce();
    if (reading.half_width_ns < best.half_width_ns) best = reading;
  }
  return best;
}

namespace {

// The word with this number, from 0; empty if there are fewer.
std::string_view WordAt(std::string_view text, size_t number) {
  for (size_t i = 0; i < number && !text.empty(); ++i) {
    const size_t space = text.find(' ');
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return text.substr(0, text.find(' '));
}

std::optional<uint64_t> NumberOf(std::string_view word) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string SystemText(const std::string& path) {
  Result<std::string> text = ReadWhole(path);
  return text.ok() ? *std::move(text) : std::string();
}

std::array<uint8_t, 16> BootId() {
  std::array<uint8_t, 16> id{};
  size_t digits = 0;
  for (const char c : SystemText("/proc/sys/kernel/random/boot_id")) {
    uint8_t digit = 0;
    const auto [end, error] = std::from_chars(&c, &c + 1, digit, 16);
    if (error != std::errc() || digits == 2 * id.size()) continue;
    uint8_t& byte = id[digits++ / 2];
    byte = static_cast<uint8_t>(byte << 4U | digit);
  }
  return id;
}

std::string HostName() {
  std::array<char, 65> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string HostFileName() {
  std::string name = HostName();
  for (char& c : name) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!is_plain) c = '_';
  }
  return name.empty() ? "host" : name;
}

uint64_t HostHash(const std::array<uint8_t, 16>& boot) {
  constexpr uint64_t kBasis = 0xcbf29ce484222325U;
  constexpr uint64_t kPrime = 0x100000001b3U;
  uint64_t hash = kBasis;
  for (const uint8_t byte : boot) hash = (hash ^ byte) * kPrime;
  for (const char c : HostName()) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

namespace {

// From /proc/PID/stat.
struct ProcessState {
  std::optional<uint64_t> start_time;  // nothing: the file could not be read
  bool is_zombie = false;              // it has ended, and nobody has asked how
};

ProcessState ReadProcessState(int64_t pid) {
  const std::string text = SystemText("/proc/" + std::to_string(pid) + "/stat");
  // The name in field 2 may hold spaces and brackets; what follows its last bracket does not.
  const size_t bracket = text.rfind(')');
  const std::string_view rest = std::string_view(text).substr(
      bracket == std::string::npos ? text.size() : std::min(bracket + 1, text.size()));
  constexpr size_t kState = 1;  // words after the name
  constexpr size_t kThreads = 18;
  constexpr size_t kStart = 20;
  // A process whose first thread has ended looks like a zombie, but for its other threads.
  const bool is_zombie =
      WordAt(rest, kState) == "Z" && NumberOf(WordAt(rest, kThreads)).value_or(0) <= 1;
  return {NumberOf(WordAt(rest, kStart)), is_zombie};
}

}  // namespace

std::optional<uint64_t> StartTimeOf(int64_t pid) {
  const ProcessState state = ReadProcessState(pid);
  return state.is_zombie ? std::nullopt : state.start_time;
}

bool StillRuns(int64_t pid, uint64_t start_time) {
  const ProcessState state = ReadProcessState(pid);
  if (state.is_zombie) return false;
  if (state.start_time.has_value()) return start_time == 0 || state.start_time == start_time;
  const auto number = static_cast<pid_t>(pid);  // 0 and below are groups of processes
  return number > 0 && number == pid && (kill(number, 0) == 0 || errno == EPERM);
}

}  // namespace borescope::internal
