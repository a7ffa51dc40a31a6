// What launching calls of an .rpd file say of their device work: shapes of kernels, sizes and ends
// of copies. They hang on the call (rocpd_kernelapi, rocpd_copyapi) or, in schema 1, on the device
// work itself (rocpd_kernelop, rocpd_copyop).
#pragma once

#include <cstdint>
#include <vector>

#include "borescope/ingest/rpd/rpd_tables.h"

namespace borescope::internal {

class RpdDetails {
 public:
  // `is_swapped`: source and target of copies stand in each other's column.
  Result<void> Read(RpdTables& tables, bool is_swapped);

  // The row of Kernels for a kernel, or kNoDetail. Of several kernels of one launch, as graphs have
  // them, the description is of one: the first with its name.
  uint32_t Kernel(int64_t call, int64_t op, StringId name);
  // A new row of Copies for a copy or set, or kNoDetail where nothing is known.
  uint32_t Copy(RpdTables& tables, int64_t call, int64_t op);
  // The kind that the call of a copy recorded, or kMissing.
  int64_t CopyKind(const RpdTables& tables, int64_t call, int64_t op);
  // Counts what no device work asked for.
  void CountUnused(Diagnostics& diagnostics) const;

 private:
  // Keys of one table, and which column they are.
  struct Keys {
    RowIds ids;
    bool by_op = false;
    std::vector<char> is_used;

    uint32_t Find(int64_t call, int64_t op) {
      const int64_t key = by_op ? op : call;
      return key == kMissing ? RowIds::kNone : ids.Find(key);
    }
  };

  Result<void> ReadKernels(RpdTables& tables);
  Result<void> ReadCopies(RpdTables& tables, bool is_swapped);
  void AddKernel(RpdTables& tables, const TableRows& rows);
  void AddCopy(RpdTables& tables, const TableRows& rows, bool is_swapped);

  Keys kernels_;
  std::vector<StringId> kernel_names_;
  Keys copies_;
  std::vector<int64_t> copy_bytes_;
};

}  // namespace borescope::internal
