#include "borescope/ingest/rpd/rpd_details.h"

#include <algorithm>

#include "borescope/trace/columns.h"

namespace borescope::internal {
namespace {

enum KernelColumn : uint8_t {
  kKernelKey,
  kStream,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kGroupBytes,
  kPrivateBytes,
  kKernelName
};
enum CopyColumn : uint8_t {
  kCopyKey,
  kCopyStream,
  kSize,
  kWidth,
  kHeight,
  kCopyKindColumn,
  kTarget,
  kSource,
  kTargetDevice,
  kSourceDevice,
  kSync,
  kPinned
};

constexpr std::string_view kCallKey = "api_ptr_id";
constexpr std::string_view kOpKey = "op_ptr_id";

// The table of this version, of two; empty if the file has neither.
std::string_view TableOf(const DatabaseSchema& schema, std::string_view by_call,
                         std::string_view by_op) {
  if (schema.Has(by_call, kCallKey)) {
    return by_call;
  }
  return schema.Has(by_op, kOpKey) ? by_op : std::string_view();
}

// Of a launch: 0 where the writer did not know it.
int32_t Dimension(const TableRows& rows, int column) {
  const int32_t size = rows.SmallInteger(column);
  return size == 0 ? -1 : size;
}

}  // namespace

void RpdDetails::AddKernel(RpdTables& tables, const TableRows& rows) {
  kernels_.ids.Add(rows.Integer(kKernelKey));
  kernel_names_.push_back(tables.String(rows.Integer(kKernelName)));
  Kernels& kernels = tables.part.data.kernels;
  kernels.grid_x.push_back(Dimension(rows, kGridX));
  kernels.grid_y.push_back(Dimension(rows, kGridY));
  kernels.grid_z.push_back(Dimension(rows, kGridZ));
  kernels.block_x.push_back(Dimension(rows, kBlockX));
  kernels.block_y.push_back(Dimension(rows, kBlockY));
  kernels.block_z.push_back(Dimension(rows, kBlockZ));
  kernels.registers.push_back(-1);
  kernels.shared_bytes.push_back(rows.SmallInteger(kGroupBytes));
  kernels.occupancy_percent.push_back(-1);
  kernels.private_bytes.push_back(rows.SmallInteger(kPrivateBytes));
  kernels.graph_node_id.push_back(kMissing);
  kernels.stream_handle.push_back(tables.part.Intern(rows.Text(kStream)));
  kernels.has_stream.push_back(MissingValue<char>());
  kernels.collective.push_back(kNoDetail);
}

Result<void> RpdDetails::ReadKernels(RpdTables& tables) {
  const std::string_view table = TableOf(tables.schema, "rocpd_kernelapi", "rocpd_kernelop");
  if (table.empty()) {
    return {};
  }
  kernels_.by_op = table == "rocpd_kernelop";
  const std::string_view columns[] = {kernels_.by_op ? kOpKey : kCallKey,
                                      "stream",
                                      "gridX",
                                      "gridY",
                                      "gridZ",
                                      "workgroupX",
                                      "workgroupY",
                                      "workgroupZ",
                                      "groupSegmentSize",
                                      "privateSegmentSize",
                                      "kernelName_id"};
  BS_ASSIGN(TableRows rows, tables.Open(table, columns));
  BS_TRY(rows.ForEach([&] { AddKernel(tables, rows); }));
  kernels_.is_used.assign(kernels_.ids.size(), 0);
  tables.diagnostics().CountMany(Diag::kDuplicateKey, kernels_.ids.Finish(), Diagnostics::kNoByte,
                                 table);
  return {};
}

void RpdDetails::AddCopy(RpdTables& tables, const TableRows& rows, bool is_swapped) {
  copies_.ids.Add(rows.Integer(kCopyKey));
  // The tracer writes an empty text for values that do not fit into 31 bits.
  const int64_t bytes = rows.Integer(kSize);
  copy_bytes_.push_back(bytes > 0 ? bytes : kMissing);
  if (bytes <= 0) {
    tables.diagnostics().Count(Diag::kUnknownCopySize, Diagnostics::kNoByte,
                               copies_.by_op ? "rocpd_copyop.size" : "rocpd_copyapi.size");
  }
  CopyCalls& calls = tables.part.data.copy_calls;
  const uint32_t row = AddMissingRow(calls);
  calls.kind[row] = rows.Integer(kCopyKindColumn);
  calls.stream_handle[row] = tables.part.Intern(rows.Text(kCopyStream));
  calls.source[row] = tables.part.Intern(rows.Text(is_swapped ? kTarget : kSource));
  calls.target[row] = tables.part.Intern(rows.Text(is_swapped ? kSource : kTarget));
  calls.source_device[row] = rows.Integer(is_swapped ? kTargetDevice : kSourceDevice);
  calls.target_device[row] = rows.Integer(is_swapped ? kSourceDevice : kTargetDevice);
  calls.width[row] = rows.Integer(kWidth);
  calls.height[row] = rows.Integer(kHeight);
  calls.is_sync[row] = rows.Integer(kSync);
  calls.is_pinned[row] = rows.Integer(kPinned);
}

Result<void> RpdDetails::ReadCopies(RpdTables& tables, bool is_swapped) {
  const std::string_view table = TableOf(tables.schema, "rocpd_copyapi", "rocpd_copyop");
  if (table.empty()) {
    return {};
  }
  copies_.by_op = table == "rocpd_copyop";
  const std::string_view columns[] = {copies_.by_op ? kOpKey : kCallKey,
                                      "stream",
                                      "size",
                                      "width",
                                      "height",
                                      "kind",
                                      "dst",
                                      "src",
                                      "dstDevice",
                                      "srcDevice",
                                      "sync",
                                      "pinned"};
  BS_ASSIGN(TableRows rows, tables.Open(table, columns));
  BS_TRY(rows.ForEach([&] { AddCopy(tables, rows, is_swapped); }));
  copies_.is_used.assign(copies_.ids.size(), 0);
  tables.diagnostics().CountMany(Diag::kDuplicateKey, copies_.ids.Finish(), Diagnostics::kNoByte,
                                 table);
  if (is_swapped && copies_.ids.size() > 0) {
    tables.diagnostics().Count(Diag::kSwappedCopyEnds, Diagnostics::kNoByte, table);
  }
  return {};
}

Result<void> RpdDetails::Read(RpdTables& tables, bool is_swapped) {
  BS_TRY(ReadKernels(tables));
  return ReadCopies(tables, is_swapped);
}

uint32_t RpdDetails::Kernel(int64_t call, int64_t op, StringId name) {
  const uint32_t row = kernels_.Find(call, op);
  if (row == RowIds::kNone || kernels_.is_used[row] != 0) {
    return kNoDetail;
  }
  constexpr StringId kNoName{0};
  const StringId described = kernel_names_[row];
  if (described != name && described != kNoName && name != kNoName) {
    return kNoDetail;
  }
  kernels_.is_used[row] = 1;
  return row;
}

uint32_t RpdDetails::Copy(RpdTables& tables, int64_t call, int64_t op) {
  const uint32_t row = copies_.Find(call, op);
  if (row == RowIds::kNone || copies_.is_used[row] != 0) {
    return kNoDetail;
  }
  copies_.is_used[row] = 1;
  Copies& copies = tables.part.data.copies;
  copies.bytes.push_back(copy_bytes_[row]);
  copies.gbps.push_back(-1.0);
  copies.call.push_back(row);
  return static_cast<uint32_t>(copies.size() - 1);
}

int64_t RpdDetails::CopyKind(const RpdTables& tables, int64_t call, int64_t op) {
  const uint32_t row = copies_.Find(call, op);
  return row == RowIds::kNone ? kMissing : tables.part.data.copy_calls.kind[row];
}

void RpdDetails::CountUnused(Diagnostics& diagnostics) const {
  for (const Keys* keys : {&kernels_, &copies_}) {
    diagnostics.CountMany(Diag::kUnusedDetail, static_cast<uint64_t>(std::count(
                                                   keys->is_used.begin(), keys->is_used.end(), 0)));
  }
}

}  // namespace borescope::internal
