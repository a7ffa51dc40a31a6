// Numbers as pandas and numpy compute them: rounding half to even, sample statistics, quartiles by
// linear interpolation. Each value has a count, because HTA's join on correlation numbers may
// repeat a row any number of times. Pure functions, safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/row.h"
#include "borescope/packs/hta/frame.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// numpy.round: half to even, on the product with a power of ten. REQUIRES: 0 <= decimals <= 6.
double HtaRound(double value, int decimals);

struct HtaRepeated {
  double value = 0;
  int64_t times = 1;
};

// The quantile `q` (numpy.quantile). REQUIRES: there is a value, each occurs at least once;
// 0 <= q <= 1.
double HtaQuantile(std::vector<HtaRepeated> values, double q);

// pandas' describe().
struct HtaStats {
  int64_t count = 0;
  double mean = 0;    // all of these are NaN in pandas, and 0 here, when there are no values
  double stddev = 0;  // of a sample; for a single value NaN in pandas, and 0 here
  double min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double max = 0;
};
HtaStats HtaDescribe(std::vector<HtaRepeated> values);

// The columns count, mean, std, min, p25, p50, p75 and max; all but the first are followed by
// `suffix` ("_us"). `what` names the values, in the plural.
void AddHtaStats(Table& table, Unit unit, std::string_view suffix, std::string_view what);
// The cells of those columns, rounded if `decimals` is not negative. What is NaN in pandas is a
// missing cell.
void PushHtaStats(Row& row, const HtaStats& stats, int decimals = -1);

// Time by the set of types that run at once: the basis of HTA's kernel types and overlap.

inline constexpr HtaType kHtaTypes[] = {HtaType::kComputation, HtaType::kCommunication,
                                        HtaType::kMemory};

// A set of types, one bit each: 1 << HtaType.
using HtaTypeSet = unsigned;
inline constexpr HtaTypeSet kAllHtaTypes = 7;

// "COMPUTATION overlapping MEMORY".
std::string HtaTypeSetName(HtaTypeSet types);

struct HtaSweep {
  std::array<double, kAllHtaTypes + 1> total_us{};  // per set: time when exactly these types run
};

// REQUIRES: rows by start.
HtaSweep SweepTypes(const std::vector<HtaRow>& rows);

std::vector<HtaRow> RowsOfType(const std::vector<HtaRow>& rows, HtaType type);

}  // namespace borescope::internal
