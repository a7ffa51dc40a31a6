#include "borescope/partial.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
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

std::vector<const internal::PartialData*> Pointers(std::span<const Partial> partials) {
  std::vector<const internal::PartialData*> insides;
  insides.reserve(partials.size());
  for (const Partial& partial : partials) {
    insides.push_back(&PartialAccess::Inside(partial));
  }
  return insides;
}

Result<Answer> ReduceSource(internal::PartSource& source, const ReduceOptions& options) {
  internal::RunOptions shown;
  shown.sort = options.display.sort;
  shown.top = options.display.top;
  shown.stop = options.stop;
  BS_ASSIGN(internal::AnswerData answer,
            internal::ReducePartials(source, shown, {options.expected_files}));
  return AnswerAccess::Make(std::move(answer));
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
  return internal::SerializePartial(data_->partial);
}

Result<void> Partial::Write(const Output& output) const {
  BS_ASSIGN(const std::string bytes, Serialize());
  return WriteTo(output, [&](internal::Sink& sink) { return sink.Write(bytes); });
}

std::vector<std::string> Partial::load_errors() const {
  std::vector<std::string> errors;
  for (const internal::PartialFile& file : data_->partial.files) {
    if (file.load_error.has_value() && !file.skipped) {
      errors.push_back(file.load_error->Sentence());
    }
  }
  return errors;
}

size_t Partial::num_loaded() const {
  const std::vector<internal::PartialFile>& files = data_->partial.files;
  return static_cast<size_t>(std::count_if(
      files.begin(), files.end(),
      [](const internal::PartialFile& file) { return !file.load_error.has_value(); }));
}

size_t Partial::num_files() const { return data_->partial.files.size(); }

Result<Partial> Partial::Parse(std::string_view bytes, std::string_view name) {
  BS_ASSIGN(internal::PartialData partial, internal::ParsePartial(bytes, name));
  return PartialAccess::Make(std::move(partial));
}

Result<std::vector<Partial>> ReadPartials(std::span<const std::string> inputs,
                                          const StopToken& stop) {
  BS_ASSIGN(const FoundParts found, FindParts(inputs));
  std::vector<Partial> partials;
  for (const StoredPart& part : found.parts) {
    BS_ASSIGN(const std::string bytes,
              internal::Stoppable(stop, [&] { return internal::ReadPartialFile(part.name); }));
    BS_ASSIGN(Partial partial, Partial::Parse(bytes, part.name));
    partials.push_back(std::move(partial));
  }
  return partials;
}

Result<FoundParts> FindParts(std::span<const std::string> inputs) {
  BS_ASSIGN(const std::vector<internal::InputFile> files, internal::ExpandInputs(inputs));
  FoundParts found;
  for (const internal::InputFile& file : files) {
    BS_ASSIGN(const bool may_be_part, internal::MayBePartial(file));
    if (may_be_part) {
      found.parts.push_back({file.path, std::nullopt});
    } else {
      ++found.passed_over;
    }
  }
  if (found.parts.empty()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "no partial",
                 .remedy = "name the files that map wrote, or their folder",
                 .file = inputs.empty() ? std::string() : inputs.front()};
  }
  return found;
}

Result<bool> HoldParts(std::span<const std::string> inputs) {
  const Result<std::vector<internal::InputFile>> files = internal::ExpandInputs(inputs);
  if (!files.ok()) {
    return false;
  }
  for (const internal::InputFile& file : *files) {
    BS_ASSIGN(const bool is_part, internal::IsPartialFile(file.path));
    if (is_part) {
      return true;
    }
  }
  return false;
}

Result<Answer> Reduce(std::span<const Partial> partials, const ReduceOptions& options) {
  internal::PartsInMemory source(Pointers(partials));
  return ReduceSource(source, options);
}

Result<Answer> Reduce(std::span<const StoredPart> parts, const ReduceOptions& options) {
  internal::StoredParts source(parts);
  return ReduceSource(source, options);
}

Result<Partial> Merge(std::span<const Partial> partials, StopToken stop) {
  BS_ASSIGN(internal::PartialData merged, internal::Stoppable(std::move(stop), [&] {
              return internal::MergePartials(Insides(partials));
            }));
  return PartialAccess::Make(std::move(merged));
}

}  // namespace borescope
