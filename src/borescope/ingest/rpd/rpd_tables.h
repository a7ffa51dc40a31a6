// Shared by the readers of the tables of an .rpd file, and the order in which they run: texts,
// calls, launches, device work, call stacks, samples.
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/base/hash/hash_tables.h"
#include "borescope/ingest/database.h"
#include "borescope/ingest/text_table.h"
#include "borescope/rpd/marker_text.h"
#include "borescope/trace/trace_builder.h"

namespace borescope::internal {

struct RpdTables {
  SqlDatabase& database;
  const DatabaseSchema& schema;
  TracePart part{};
  TextTable strings{};
  TextTable arguments{};  // since schema 3; before, `strings` includes them
  // The texts of `arguments`: not those of the trace, which takes parts of most of them.
  StringPool argument_texts{};
  HashMap<int64_t, StringId> long_arguments{};  // by id, those of the trace
  bool has_own_arguments = false;
  bool saw_cuda = false;  // calls or device work of CUDA
  RowIds calls{};         // ids of rocpd_api, by host row

  Diagnostics& diagnostics() { return part.data.diagnostics; }
  StringId String(int64_t id) { return strings.Get(id, diagnostics()); }
  // Valid as long as this.
  std::string_view Arguments(int64_t id) {
    return has_own_arguments ? argument_texts.Get(arguments.Get(id, diagnostics()))
                             : part.data.strings.Get(String(id));
  }
  // The same as a text of the trace. Many rows may share a long text: it is hashed once.
  StringId ArgumentsOfTrace(int64_t id) {
    const std::string_view text = Arguments(id);
    if (text.size() <= kLongText) {
      return part.Intern(text);
    }
    const auto [found, is_new] = long_arguments.try_emplace(id);
    if (is_new) {
      found->second = part.Intern(text);
    }
    return found->second;
  }
  Result<TableRows> Open(std::string_view table, std::span<const std::string_view> columns) {
    return TableRows::Open(database, schema, table, columns, diagnostics());
  }
};

// rocpd_api: calls, ranges of the user and the tracer's own work.
Result<void> ReadRpdCalls(RpdTables& tables);
// rocpd_op with its details: launches, dimensions of kernels, sizes of copies. `is_swapped`: source
// and target of copies are swapped.
Result<void> ReadRpdDeviceWork(RpdTables& tables, bool is_swapped);

// rocpd_stackframe: frames around the calls that were read.
Result<void> ReadRpdStacks(RpdTables& tables);

}  // namespace borescope::internal
