#include <cerrno>
#include <new>
#include <string>
#include <utility>

#include "borescope/arrow/array.h"
#include "borescope/arrow/descendants.h"
#include "borescope/arrow/export.h"
#include "borescope/base/check.h"

namespace borescope::internal {
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
