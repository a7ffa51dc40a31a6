// How the public handles are made from what is inside, and back. Internal to api/.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/answer.h"
#include "borescope/engine/partial/partial_data.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/error.h"
#include "borescope/partial.h"
#include "borescope/table.h"

namespace borescope {

struct TableAccess {
  // The table and what keeps it alive.
  static Table Make(std::shared_ptr<const internal::Table> table);
};

struct AnswerAccess {
  static Answer Make(internal::Answer answer);
};

struct PartialAccess {
  static Partial Make(internal::PartialData partial);
  static const internal::PartialData& Inside(const Partial& partial);
};

// An error in parts. Inside, errors are one line: file, place, cause and remedy, in that order,
// with parameters as options of the command line; `paths` are the files that one may begin with.
Error PublicError(const internal::Error& error, std::span<const std::string> paths = {});

}  // namespace borescope
