#include "borescope/partial.h"

#include <utility>
#include <vector>

#include "borescope/api/access.h"
#include "borescope/base/io/byte_source.h"
#include "borescope/base/io/unchanged.h"
#include "borescope/base/stop.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/partial/wire/partial_bytes.h"

namespace borescope {
namespace {

std::vector<internal::PartialData> Insides(std::span<const Partial> partials) {
  std::vector<internal::PartialData> insides;
  insides.reserve(partials.size());
  for (const Partial& partial : partials) {
    insides.push_back(PartialAccess::Inside(partial));
  }
  return insides;
}

// All bytes of a file, which ParsePartial bounds.
internal::Result<std::string> ReadWhole(const std::string& path) {
  constexpr size_t kPiece = size_t{1} << 20;
  BS_ASSIGN(const std::unique_ptr<internal::ByteSource> source, internal::OpenFile(path));
  std::string bytes;
  for (size_t size = 0;; bytes.resize(size)) {
    size = bytes.size();
    bytes.resize(size + kPiece);
    BS_ASSIGN(const size_t read,
              internal::About(path, internal::ReadFully(*source, bytes.data() + size, kPiece)));
    size += read;
    if (read < kPiece) {
      bytes.resize(size);
      return bytes;
    }
  }
}

}  // namespace

struct Partial::Data {
  internal::PartialData partial;
};

Partial PartialAccess::Make(internal::PartialData partial) {
  Partial handle;
  handle.data_ = std::make_shared<const Partial::Data>(Partial::Data{std::move(partial)});
  return handle;
}

const internal::PartialData& PartialAccess::Inside(const Partial& partial) {
  return partial.data_->partial;
}

Result<std::string> Partial::Serialize() const {
  internal::Result<std::string> bytes = internal::SerializePartial(data_->partial);
  if (!bytes.ok()) {
    return PublicError(bytes.error());
  }
  return std::move(*bytes);
}

Result<void> Partial::Write(const Output& output) const {
  const Result<std::string> bytes = Serialize();
  if (!bytes.ok()) {
    return bytes.error();
  }
  const std::string paths[] = {output.path};
  return Public(WriteTo(output, [&](internal::Sink& sink) { return sink.Write(*bytes); }), paths);
}

size_t Partial::num_files() const { return data_->partial.files.size(); }

Result<Partial> Partial::Parse(std::string_view bytes, std::string_view name) {
  internal::Result<internal::PartialData> partial = internal::ParsePartial(bytes, name);
  if (!partial.ok()) {
    const std::string paths[] = {std::string(name)};
    return PublicError(partial.error(), paths);
  }
  return PartialAccess::Make(std::move(*partial));
}

Result<std::vector<Partial>> ReadPartials(std::span<const std::string> inputs,
                                          const StopToken& stop) {
  const internal::Result<std::vector<internal::InputFile>> files = internal::ExpandInputs(inputs);
  if (!files.ok()) {
    return PublicError(files.error(), inputs);
  }
  std::vector<Partial> partials;
  for (const internal::InputFile& file : *files) {
    const internal::Result<std::string> bytes = internal::Stoppable(stop, [&] {
      return internal::ReadUnchanged(file.path, [&] { return ReadWhole(file.path); });
    });
    if (!bytes.ok()) {
      const std::string paths[] = {file.path};
      return PublicError(bytes.error(), paths);
    }
    Result<Partial> partial = Partial::Parse(*bytes, file.path);
    if (!partial.ok()) {
      return partial.error();
    }
    partials.push_back(std::move(*partial));
  }
  return partials;
}

Result<Answer> Reduce(std::span<const Partial> partials, const Display& display, StopToken stop) {
  internal::RunOptions shown;
  shown.sort = display.sort;
  shown.top = display.top;
  shown.stop = std::move(stop);
  internal::Result<internal::Answer> answer = internal::ReducePartials(Insides(partials), shown);
  if (!answer.ok()) {
    return PublicError(answer.error());
  }
  return AnswerAccess::Make(std::move(*answer));
}

Result<Partial> Merge(std::span<const Partial> partials, StopToken stop) {
  internal::Result<internal::PartialData> merged = internal::Stoppable(
      std::move(stop), [&] { return internal::MergePartials(Insides(partials)); });
  if (!merged.ok()) {
    return PublicError(merged.error());
  }
  return PartialAccess::Make(std::move(*merged));
}

}  // namespace borescope
