// The tables, views and indexes of a rocmProfileData database, schema 3, as its tracer makes them:
// the order of columns counts, and every column is NOT NULL.
#pragma once

#include <string_view>

namespace borescope::internal {

// To be run on an empty database.
extern const std::string_view kRpdTables;
extern const std::string_view kRpdViews;
// To be run last: rows are written faster without them.
extern const std::string_view kRpdIndexes;

}  // namespace borescope::internal
