// Where an answer will be written. Internal to api/.
#pragma once

#include <span>
#include <string>

#include "borescope/engine/run_analyses.h"
#include "borescope/run.h"

namespace borescope {

// Makes the run refuse what cannot be written to the destination: now what is known of it, and
// once there are tables, before files of the question appear, what their files are called.
//
// `run` stays where it is until it was asked.
Result<void> SetDestination(const Destination& destination, internal::RunOptions& run);

}  // namespace borescope
