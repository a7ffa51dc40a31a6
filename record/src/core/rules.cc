#include "core/rules.h"

#include <cstring>

#include "borescope/recording/control.h"
#include "core/clock.h"
#include "core/control.h"
#include "core/ranges.h"
#include "core/seen_names.h"
#include "core/state.h"
#include "core/strings.h"
#include "core/text.h"
#include "core/writer.h"

namespace borescope::inject {

namespace {

constexpr uint64_t kMostCount = (uint64_t{1} << 23U) - 1;

// What the rules of this process did, in one word, so that it changes as a whole.
struct Window {
  uint64_t epoch : 16;       // of the page, in which the rest but `starts` holds
  uint64_t open : 23;        // what keeps recording on; it was started with the first
  uint64_t starts : 23;      // or stops, where no rule starts
  uint64_t is_starting : 1;  // a thread is about to start, and looks here once it has
  uint64_t owes_stop : 1;    // it is then to stop at once: what it started for was closed
};
static_assert(sizeof(Window) == sizeof(uint64_t));

Window Unpack(uint64_t word) {
  Window window;
  memcpy(static_cast<void*>(&window), &word, sizeof(word));
  return window;
}

uint64_t Pack(const Window& window) {
  uint64_t word = 0;
  memcpy(&word, &window, sizeof(word));
  return word;
}

const RuleOptions& Rules() { return g_options.rules; }

// Ranges within the one that started count, where its end stops.
bool CountsRanges() { return Rules().stop == RuleKind::kOwnRange; }

// Calls of the program may start as often as they like.
uint32_t MostStarts() { return Rules().start == RuleKind::kCall ? 0 : Rules().most_starts; }

bool AreDone() { return __atomic_load_n(&g_control->are_rules_done, __ATOMIC_SEQ_CST) != 0; }

// What the launcher ended is not open any more.
Window CurrentWindow(uint64_t word) {
  Window window = Unpack(word);
  const uint16_t epoch = recording::EpochOf(recording::LoadStarts(*g_control));
  if (window.epoch == epoch) return window;
  Window next = {};
  next.epoch = epoch;
  next.starts = window.starts;
  return next;
}

// Starts for what was opened. A stop that came before the start was counted, is made up for.
void StartOpened(uint16_t epoch) {
  __atomic_fetch_add(&g_control->rule_starts, 1, __ATOMIC_RELAXED);
  StartRecordingIn(epoch);
  uint64_t word = g_log->rule_window.load();
  for (;;) {
    Window window = Unpack(word);
    if (window.epoch != epoch) return;
    const bool owes_stop = window.owes_stop != 0;
    window.is_starting = 0;
    window.owes_stop = 0;
    if (!g_log->rule_window.compare_exchange_weak(word, Pack(window))) continue;
    if (owes_stop) StopRecordingIn(epoch);
    return;
  }
}

// Returns whether this is part of what is recorded now.
bool Open() {
  uint64_t word = g_log->rule_window.load();
  for (;;) {
    Window window = CurrentWindow(word);
    // After the epoch was read: the launcher says so before it ends that epoch for the last time.
    if (AreDone()) return false;
    const bool is_first = window.open == 0;
    if (!is_first && !CountsRanges()) return true;
    if (window.open == kMostCount) return false;
    if (is_first && MostStarts() != 0 && window.starts >= MostStarts()) return false;
    if (is_first && window.starts < kMostCount) ++window.starts;
    ++window.open;
    // A start that is still under way is one for this, too, and has not to stop any more.
    const bool starts = is_first && window.is_starting == 0;
    if (starts) window.is_starting = 1;
    window.owes_stop = 0;
    if (!g_log->rule_window.compare_exchange_weak(word, Pack(window))) continue;
    if (starts) StartOpened(window.epoch);
    return true;
  }
}

void Close() {
  uint64_t word = g_log->rule_window.load();
  for (;;) {
    Window window = CurrentWindow(word);
    if (window.open == 0) return;
    const uint64_t left = CountsRanges() ? uint64_t{window.open} - 1 : 0;
    window.open = left & kMostCount;
    window.owes_stop = window.open == 0 ? window.is_starting : 0;
    if (!g_log->rule_window.compare_exchange_weak(word, Pack(window))) continue;
    if (window.open == 0 && window.owes_stop == 0) StopRecordingIn(window.epoch);
    return;
  }
}

// Where no rule starts: once.
void StopOnce() {
  if (!IsRecording()) return;
  uint64_t word = g_log->rule_window.load();
  Window stopped = {};
  stopped.starts = 1;
  do {
    if (Unpack(word).starts != 0) return;
  } while (!g_log->rule_window.compare_exchange_weak(word, Pack(stopped)));
  StopRecording();
}

void Stop() { Rules().start == RuleKind::kNone ? StopOnce() : Close(); }

struct Name {
  const char* text;
  size_t length;
};

// Registered texts are in the message by their number alone.
Name NameOf(const Message& message) {
  if (message.registered == nullptr) return {message.text, message.length};
  return {StringText(message.registered), message.registered->length};
}

// The number of "ProfilerStep#NUMBER", as PyTorch's profiler and our own steps are called.
bool ReadStep(const Name& name, uint64_t* number) {
  constexpr char kPrefix[] = "ProfilerStep#";
  constexpr size_t kPrefixLength = sizeof(kPrefix) - 1;
  if (name.length <= kPrefixLength || memcmp(name.text, kPrefix, kPrefixLength) != 0) return false;
  char digits[24];
  const size_t rest = name.length - kPrefixLength;
  TextBuilder builder(digits, sizeof(digits));
  builder.Add(name.text + kPrefixLength, rest < sizeof(digits) ? rest : sizeof(digits) - 1);
  return ParseNumber(digits, number);
}

bool HasStepRule() { return Rules().start == RuleKind::kStep || Rules().stop == RuleKind::kStep; }

void NoteStep(uint64_t number) {
  const uint64_t next = number == ~uint64_t{0} ? number : number + 1;
  uint64_t known = __atomic_load_n(&g_control->next_step, __ATOMIC_RELAXED);
  while (known < next && !__atomic_compare_exchange_n(&g_control->next_step, &known, next, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// There are many steps, and nobody mistypes them.
void NoteOther(const Name& name) {
  uint64_t step = 0;
  const bool is_waiting = __atomic_load_n(&g_control->rule_starts, __ATOMIC_RELAXED) == 0;
  if (is_waiting && !ReadStep(name, &step)) NoteSeen(name.text, name.length);
}

// Once for each process.
void SayNotAwaited() {
  if (g_log->has_said_unawaited.exchange(true)) return;
  constexpr char kText[] =
      "start and stop at ranges: the end of a range could not be awaited, so it had no effect: it "
      "was nested deeper than 64, or 256 that may end on other threads were open";
  const uint64_t body[] = {Now()};
  Write(recording::RecordType::kState, static_cast<uint32_t>(recording::StateKind::kGap), body,
        kText, sizeof(kText) - 1);
}

bool IsStart(const Name& name) {
  if (Rules().start != RuleKind::kRange) return false;
  if (Rules().start_name.Matches(name.text, name.length)) return true;
  NoteOther(name);
  return false;
}

bool StopsAtEnd(const Name& name) {
  return Rules().stop == RuleKind::kRange && Rules().stop_name.Matches(name.text, name.length);
}

}  // namespace

bool g_watches_ranges = false;

void BeginRules() {
  const RuleOptions& rules = Rules();
  g_watches_ranges =
      rules.start == RuleKind::kRange || rules.stop == RuleKind::kRange || HasStepRule();
}

bool RangeBegins(const Message& message, bool can_await) {
  const Name name = NameOf(message);
  uint64_t step = 0;
  if (HasStepRule() && ReadStep(name, &step)) StepBegins(step);
  const bool is_start = IsStart(name);
  const bool needs_end = StopsAtEnd(name) || (is_start && CountsRanges());
  if (needs_end && !can_await) SayNotAwaited();
  if (is_start && CountsRanges()) return can_await && Open();
  if (is_start) Open();
  return needs_end && can_await;
}

void RangeIsNotAwaited() {
  SayNotAwaited();
  if (CountsRanges()) Close();
}

void RangeEnds() { Stop(); }

// A mark has no end: where the end of a range would stop, recording goes on.
bool MarkComes(const Message& message) {
  const Name name = NameOf(message);
  if (IsStart(name)) Open();
  return StopsAtEnd(name);
}

void MarkCame() { Stop(); }

void StepBegins(uint64_t number) {
  if (!HasStepRule()) return;
  NoteStep(number);
  if (Rules().stop == RuleKind::kStep && number >= Rules().stop_step) Stop();
  if (Rules().start == RuleKind::kStep && number == Rules().start_step) Open();
}

void ProfilerStarts() {
  if (Rules().start == RuleKind::kCall) Open();
}

void ProfilerStops() {
  if (Rules().stop == RuleKind::kCall) Stop();
}

}  // namespace borescope::inject
