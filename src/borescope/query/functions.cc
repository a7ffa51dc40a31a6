#include "borescope/query/functions.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "borescope/base/intervals.h"

namespace borescope::internal::query {
namespace {

bool IsNumber(sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool AnyNull(int count, sqlite3_value** arguments) {
  return std::any_of(arguments, arguments + count,
                     [](sqlite3_value* value) { return sqlite3_value_type(value) == SQLITE_NULL; });
}

// False, and the call has failed, where an argument is no number.
bool CheckNumbers(sqlite3_context* context, int count, sqlite3_value** arguments,
                  const char* what) {
  if (std::all_of(arguments, arguments + count, IsNumber)) {
    return true;
  }
  sqlite3_result_error(context, what, -1);
  return false;
}

// The state of an aggregate, made with its first row. Memory that runs out fails the statement: it
// must not be thrown through SQLite.
template <class State>
State** Slot(sqlite3_context* context, int bytes) {
  return static_cast<State**>(sqlite3_aggregate_context(context, bytes));
}

template <class State, class Body>
void WithState(sqlite3_context* context, Body body) {
  auto** slot = Slot<State>(context, sizeof(State*));
  if (slot == nullptr) {
    return sqlite3_result_error_nomem(context);
  }
  try {
    if (*slot == nullptr) {
      *slot = std::make_unique<State>().release();
    }
    body(**slot);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

// The state that an aggregate leaves behind; nullptr when no row had values.
template <class State>
std::unique_ptr<State> TakeState(sqlite3_context* context) {
  auto** slot = Slot<State>(context, 0);
  return std::unique_ptr<State>(slot == nullptr ? nullptr : std::exchange(*slot, nullptr));
}

// A length that may be longer than any integer of SQLite.
void ReturnLength(sqlite3_context* context, uint64_t length) {
  if (length > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return sqlite3_result_error(context, "integer overflow", -1);
  }
  sqlite3_result_int64(context, static_cast<sqlite3_int64>(length));
}

uint64_t Distance(int64_t begin, int64_t end) {
  return static_cast<uint64_t>(end) - static_cast<uint64_t>(begin);
}

// ---- union_ns, gaps_ns ----

struct Intervals {
  IntervalSet all;    // without those of no length
  size_t joined = 0;  // how many were left when they were last joined
  int64_t first = std::numeric_limits<int64_t>::max();  // begin of all, those of no length too
  int64_t last = std::numeric_limits<int64_t>::min();

  // Joins them when they have become many, so that memory follows what cannot be joined.
  void Add(Interval interval) {
    first = std::min(first, interval.begin);
    last = std::max(last, interval.end);
    if (interval.begin == interval.end) {
      return;
    }
    constexpr size_t kMany = size_t{1} << 20;
    if (all.size() >= std::max(kMany, 2 * joined)) {
      all = Union(std::move(all));
      joined = all.size();
    }
    all.push_back(interval);
  }
};

void AddInterval(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (AnyNull(count, arguments) ||
      !CheckNumbers(context, count, arguments, "an interval needs two numbers, begin and end")) {
    return;
  }
  const Interval interval{sqlite3_value_int64(arguments[0]), sqlite3_value_int64(arguments[1])};
  if (interval.begin <= interval.end) {
    WithState<Intervals>(context, [&](Intervals& state) { state.Add(interval); });
  }
}

template <class Measure>
void FinishIntervals(sqlite3_context* context, Measure measure) {
  const std::unique_ptr<Intervals> state = TakeState<Intervals>(context);
  if (state == nullptr) {
    return sqlite3_result_int64(context, 0);
  }
  state->all = Union(std::move(state->all));
  ReturnLength(context, measure(*state));
}

uint64_t LengthOf(const IntervalSet& set) {
  uint64_t length = 0;
  for (const Interval& interval : set) {
    length += Distance(interval.begin, interval.end);
  }
  return length;
}

void FinishUnion(sqlite3_context* context) {
  FinishIntervals(context, [](const Intervals& state) { return LengthOf(state.all); });
}

// Work without length ends a gap, and begins or ends it all.
void FinishGaps(sqlite3_context* context) {
  FinishIntervals(context, [](const Intervals& state) {
    return Distance(state.first, state.last) - LengthOf(state.all);
  });
}

// ---- overlap_ns ----

void Overlap(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (AnyNull(count, arguments) ||
      !CheckNumbers(context, count, arguments, "overlap_ns needs four numbers")) {
    return;
  }
  const int64_t begin =
      std::max(sqlite3_value_int64(arguments[0]), sqlite3_value_int64(arguments[2]));
  const int64_t end =
      std::min(sqlite3_value_int64(arguments[1]), sqlite3_value_int64(arguments[3]));
  ReturnLength(context, begin < end ? Distance(begin, end) : 0);
}

// ---- percentile ----

struct Sample {
  std::vector<double> values;
  double percent = 0;
};

void AddToSample(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL ||
      !CheckNumbers(context, count, arguments, "percentile needs two numbers")) {
    return;
  }
  const double percent = sqlite3_value_double(arguments[1]);
  if (!(percent >= 0 && percent <= 100)) {
    return sqlite3_result_error(context, "the second argument of percentile is from 0 to 100", -1);
  }
  WithState<Sample>(context, [&](Sample& state) {
    state.values.push_back(sqlite3_value_double(arguments[0]));
    state.percent = percent;
  });
}

// Linear interpolation between neighbours: type 7 of Hyndman and Fan (1996).
void FinishPercentile(sqlite3_context* context) {
  const std::unique_ptr<Sample> state = TakeState<Sample>(context);
  if (state == nullptr) {
    return sqlite3_result_null(context);
  }
  std::vector<double>& values = state->values;
  const double position = state->percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), middle, values.end());
  const double share = position - std::floor(position);
  const double low = *middle;
  const double high = share > 0 ? *std::min_element(middle + 1, values.end()) : low;
  sqlite3_result_double(context, low + share * (high - low));
}

// ---- Registration ----

constexpr FunctionRow kFunctions[] = {
    {"union_ns", "union_ns(begin, end)",
     "Aggregate: the length of the union of the intervals, so that overlaps count once."},
    {"gaps_ns", "gaps_ns(begin, end)",
     "Aggregate: the time between the first begin and the last end that no interval covers."},
    {"overlap_ns", "overlap_ns(begin1, end1, begin2, end2)",
     "The length that two intervals have in common."},
    {"percentile", "percentile(x, p)",
     "Aggregate: the p-th percentile of x, p from 0 to 100, with linear interpolation."}};

constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

}  // namespace

std::span<const FunctionRow> Functions() { return kFunctions; }

Result<void> RegisterFunctions(SqlDatabase& database) {
  const auto add = [&](const char* name, int arguments, auto call, auto step, auto finish) {
    return sqlite3_create_function_v2(database.handle(), name, arguments, kFlags, nullptr, call,
                                      step, finish, nullptr);
  };
  const bool failed = add("union_ns", 2, nullptr, AddInterval, FinishUnion) != SQLITE_OK ||
                      add("gaps_ns", 2, nullptr, AddInterval, FinishGaps) != SQLITE_OK ||
                      add("overlap_ns", 4, Overlap, nullptr, nullptr) != SQLITE_OK ||
                      add("percentile", 2, nullptr, AddToSample, FinishPercentile) != SQLITE_OK;
  return failed ? Result<void>(Error{ErrorCode::kIo, "query: SQLite refuses a function"})
                : Result<void>();
}

}  // namespace borescope::internal::query
