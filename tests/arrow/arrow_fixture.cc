// What check_arrow.py calls through ctypes: tables by number, as Arrow streams and, to compare
// with, as the JSON that the program writes.
#include <string>

#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"
#include "tests/arrow/fixture_tables.h"

using borescope::internal::testkit::FixtureTables;

extern "C" {

int fixture_count() { return static_cast<int>(FixtureTables().size()); }

// Fills `*out`, which the caller releases.
void fixture_export(int index, ArrowArrayStream* out) {
  const auto& fixture = FixtureTables()[static_cast<size_t>(index)];
  borescope::internal::ExportTable(fixture.table, out, fixture.limits);
}

// How many owners the table has; 1 once all that was exported is released.
long fixture_owners(int index) {
  return FixtureTables()[static_cast<size_t>(index)].table.use_count();
}

// The table as `-f json` writes it. Valid until the next call.
const char* fixture_json(int index) {
  static std::string json;
  borescope::internal::Document document;
  document.tables.push_back(*FixtureTables()[static_cast<size_t>(index)].table);
  borescope::internal::StringSink sink;
  const bool is_written = borescope::internal::WriteJson(document, {}, sink).ok();
  json = is_written ? sink.text() : "";
  return json.c_str();
}

}  // extern "C"
