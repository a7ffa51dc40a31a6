// The smallest change that a comparison would find. Pure.
#pragma once

#include "borescope/check/statistics/student.h"

namespace borescope::internal {

// A comparison of runs that has not happened: what it needs to call a change real.
struct PlannedTest {
  double base_runs = 0;
  double test_runs = 0;
  RunSpread spread = {};  // between runs of one program
  double alpha = 0.05;    // one-sided
  double least = 0;       // the estimate must be at least this large, too
};

// The probability that a change of `shift` is called real: that the estimate is at least `least`,
// and larger than the limit of the t test with the deviation that the runs will happen to have.
double PowerOf(const PlannedTest& test, double shift);

// The shift that is called real in `power` of all cases, to 1e-5. REQUIRES: spread.df > 0.
double DetectableShift(const PlannedTest& test, double power = 0.8);

}  // namespace borescope::internal
