#include "borescope/output.h"

#include "borescope/base/io/unfinished.h"
#include "borescope/engine/access.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/sink/sink.h"

namespace borescope {
namespace {

// Hands bytes to a function of the caller's.
class FunctionSink : public internal::Sink {
 public:
  explicit FunctionSink(const WriteBytes& write) : write_(write) {}

  Result<void> Write(std::string_view bytes) override {
    const Result<void> written = write_(bytes);
    return written.ok() ? Result<void>() : written.error();
  }

 private:
  const WriteBytes& write_;
};

}  // namespace

Result<void> WriteTo(const Output& output,
                     const std::function<Result<void>(internal::Sink&)>& write) {
  if (!output.write) {
    return internal::WriteFile(output.path, write);
  }
  FunctionSink sink(output.write);
  return write(sink);
}

Result<void> DescriptorWriter::Write(std::string_view bytes) {
  internal::DescriptorSink sink(descriptor_, name_);
  const Result<void> written = sink.Write(bytes);
  reader_is_gone_ = sink.reader_is_gone();
  return written;
}

void UndoUnfinished() { internal::UndoUnfinished(); }

Result<void> CheckOutput(const std::string& path, std::span<const std::string> inputs) {
  if (path.empty()) {
    return {};
  }
  const Result<std::vector<std::string>> behind = internal::PathsBehind(inputs);
  return behind.ok() ? internal::CheckNoInput(*behind, path, "`output`")
                     : Result<void>(behind.error());
}

}  // namespace borescope
