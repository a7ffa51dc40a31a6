#include "borescope/arrow/stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "borescope/arrow/descendants.h"
#include "borescope/arrow/export.h"
#include "borescope/arrow/schema.h"
#include "borescope/base/check.h"

namespace borescope::internal {

namespace {

// A bit for each of `flags`, the first one lowest: set where the flag is not 0; where it is 0, if
// `inverted`. Bits after the last cell are 0, up to a whole number of eight bytes, as Arrow has
// them.
std::vector<uint8_t> PackBits(std::span<const char> flags, bool inverted) {
  std::vector<uint8_t> bits((flags.size() + 63) / 64 * 8);
  for (size_t cell = 0; cell < flags.size(); ++cell) {
    const bool is_set = (flags[cell] != 0) != inverted;
    bits[cell / 8] = static_cast<uint8_t>(bits[cell / 8] | (unsigned{is_set} << (cell % 8)));
  }
  return bits;
}

using TablePtr = std::shared_ptr<const Table>;

// What an array points to, and what it must keep alive for that.
struct ArrayData {
  TablePtr table;
  std::vector<uint8_t> validity;
  std::vector<uint8_t> bits;
  std::optional<DictionaryTexts> texts;
  std::array<const void*, 3> buffers{};
  Descendants<ArrowArray> descendants;
};

// Buffers of no bytes: some readers want an address that is not null, well aligned.
alignas(64) constexpr char kNothing[64] = {};

const void* AddressOf(const void* values) { return values == nullptr ? kNothing : values; }

// The array of `data`, whose first `buffers` buffers count. Nothing can fail any more.
ArrowArray Publish(std::unique_ptr<ArrayData> data, int64_t buffers, int64_t length,
                   int64_t null_count) noexcept {
  ArrowArray array{};
  array.length = length;
  array.null_count = null_count;
  array.n_buffers = buffers;
  array.buffers = data->buffers.data();
  data->descendants.Attach(array);
  array.release = ReleaseWithData<ArrowArray, ArrayData>;
  array.private_data = data.release();
  return array;
}

// A copy, which does not need the table.
ArrowArray MakeTexts(const StringValues& values, const ExportLimits& limits) {
  auto data = std::make_unique<ArrayData>();
  data->texts.emplace(values, NeedsLargeOffsets(values, limits.utf8_bytes));
  data->buffers = {nullptr, data->texts->offsets(), data->texts->bytes()};
  const int64_t length = data->texts->size();
  return Publish(std::move(data), 3, length, 0);
}

// Puts the cells of a column where its array points to.
class CellsOfColumn {
 public:
  CellsOfColumn(ArrayData& data, const ExportLimits& limits) : data_(data), limits_(limits) {}

  void operator()(const IntValues& values) { PutCells(values.data()); }
  void operator()(const FloatValues& values) { PutCells(values.data()); }
  void operator()(const StringValues& values) {
    PutCells(values.numbers().data());
    data_.descendants.dictionary() = MakeTexts(values, limits_);
  }
  void operator()(const BoolValues& values) {
    data_.bits = PackBits(values, false);
    PutCells(data_.bits.data());
  }

 private:
  void PutCells(const void* cells) { data_.buffers[1] = AddressOf(cells); }

  ArrayData& data_;
  const ExportLimits& limits_;
};

ArrowArray MakeColumn(const TablePtr& table, const Column& column, const ExportLimits& limits) {
  auto data = std::make_unique<ArrayData>();
  data->table = table;
  std::visit(CellsOfColumn(*data, limits), column.values);
  const auto nulls = std::ranges::count_if(column.missing, [](char mark) { return mark != 0; });
  if (nulls != 0) {
    data->validity = PackBits(column.missing, true);
    data->buffers[0] = data->validity.data();
  }
  return Publish(std::move(data), 2, static_cast<int64_t>(column.size()), nulls);
}

Result<void> CheckColumn(const Column& column, size_t rows) {
  if (column.size() != rows || (!column.missing.empty() && column.missing.size() != rows)) {
    return UsageError("column '" + column.name + "' has not as many cells as the table has rows");
  }
  const auto* texts = std::get_if<StringValues>(&column.values);
  if (texts != nullptr && texts->texts().size() > std::numeric_limits<int32_t>::max()) {
    return UsageError("column '" + column.name + "' has more distinct texts than Arrow can number");
  }
  return {};
}

}  // namespace

Result<void> CheckShape(const Table& table) {
  for (const Column& column : table.columns) {
    BS_TRY(CheckColumn(column, table.rows()));
  }
  return {};
}

ArrowArray MakeArray(const TablePtr& table, const ExportLimits& limits) {
  auto data = std::make_unique<ArrayData>();
  data->table = table;
  data->descendants.Resize(table->columns.size());
  for (size_t i = 0; i < table->columns.size(); ++i) {
    data->descendants.child(i) = MakeColumn(table, table->columns[i], limits);
  }
  return Publish(std::move(data), 1, static_cast<int64_t>(table->rows()), 0);
}

namespace {

struct StreamData {
  std::shared_ptr<const Table> table;
  ExportLimits limits;
  bool has_ended = false;
  std::string message;               // what `last_error` points to, where it is no literal
  const char* last_error = nullptr;  // of the last call; nullptr where it succeeded
};

StreamData* DataOf(const ArrowArrayStream* stream) {
  return static_cast<StreamData*>(stream->private_data);
}

// Runs `work` on the data of the stream. No exception passes: the caller may be written in C.
// Reports a stream that was released before, which nobody should ask.
template <class Work>
int RunCallback(ArrowArrayStream* stream, const Work& work) noexcept {
  StreamData* const data = DataOf(stream);
  if (data == nullptr) {
    return EINVAL;
  }
  data->last_error = nullptr;
  try {
    return work(*data);
  } catch (...) {  // std::bad_alloc, or std::length_error of a container
    data->last_error = "not enough memory for the Arrow form of the table";
    return ENOMEM;
  }
}

int FillSchema(StreamData& data, ArrowSchema* out) {
  ExportSchema(*data.table, out, data.limits);
  return 0;
}

int FillNext(StreamData& data, ArrowArray* out) {
  if (data.has_ended) {
    *out = {};  // a released array: there is no more
    return 0;
  }
  if (Result<void> shape = CheckShape(*data.table); !shape.ok()) {
    data.message = "table '" + data.table->name + "': " + shape.error().Sentence();
    data.last_error = data.message.c_str();
    return EINVAL;
  }
  *out = MakeArray(data.table, data.limits);
  data.has_ended = true;
  return 0;
}

int GetSchema(ArrowArrayStream* self, ArrowSchema* out) {
  return RunCallback(self, [&](StreamData& data) { return FillSchema(data, out); });
}

int GetNext(ArrowArrayStream* self, ArrowArray* out) {
  return RunCallback(self, [&](StreamData& data) { return FillNext(data, out); });
}

const char* GetLastError(ArrowArrayStream* self) {
  const StreamData* const data = DataOf(self);
  return data == nullptr ? "the stream was released" : data->last_error;
}

}  // namespace

void ExportTable(std::shared_ptr<const Table> table, ArrowArrayStream* out,
                 const ExportLimits& limits) {
  BS_CHECK(table != nullptr);
  auto data = std::make_unique<StreamData>();
  data->table = std::move(table);
  data->limits = limits;
  *out = {GetSchema, GetNext, GetLastError, ReleaseWithData<ArrowArrayStream, StreamData>,
          data.release()};
}

}  // namespace borescope::internal
