// The types of device work in an .rpd file, by one table.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/ingest/rpd/rpd_tables.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

struct RpdOpType {
  DeviceKind kind = DeviceKind::kKernel;
  bool is_cuda = false;   // written by the CUPTI source: its stream is in sequenceId
  bool is_known = false;  // else a kernel, as a default
};

// `op_type` is the text of rocpd_op.opType_id.
RpdOpType FindRpdOpType(std::string_view op_type);

// "Memcpy HtoD" for a copy whose type does not contain the direction, by the kind that its call
// recorded (cudaMemcpyKind); `name` if neither does.
std::string_view RpdCopyName(std::string_view name, int64_t copy_kind);

// What launching calls of an .rpd file record about their device work: dimensions of kernels, sizes
// and ends of copies. They belong to the call (rocpd_kernelapi, rocpd_copyapi) or, in schema 1, on
// the device work itself (rocpd_kernelop, rocpd_copyop).

class RpdDetails {
 public:
  // `is_swapped`: source and target of copies are swapped.
  Result<void> Read(RpdTables& tables, bool is_swapped);

  // The row of Kernels for a kernel, or kNoDetail. If one launch has several kernels, as graphs do,
  // the description belongs to the first with its name.
  uint32_t Kernel(int64_t call, int64_t op, StringId name);
  // A new row of Copies for a copy or set, or kNoDetail if nothing is known.
  uint32_t Copy(RpdTables& tables, int64_t call, int64_t op);
  // The kind that the call of a copy recorded, or kMissing.
  int64_t CopyKind(const RpdTables& tables, int64_t call, int64_t op);
  // Counts descriptions that no device work used.
  void CountUnused(Diagnostics& diagnostics) const;

 private:
  // Keys of one table, and their column.
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
