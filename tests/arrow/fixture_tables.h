// Tables that check_arrow.py reads through Arrow, and how each is exported.
#pragma once

#include <memory>
#include <vector>

#include "borescope/arrow/export.h"

namespace borescope::internal::testkit {

struct FixtureTable {
  std::shared_ptr<const Table> table;
  ExportLimits limits = {};
};

// Made on the first call; they live until the program ends.
const std::vector<FixtureTable>& FixtureTables();

}  // namespace borescope::internal::testkit
