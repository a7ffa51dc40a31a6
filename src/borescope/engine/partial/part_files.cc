#include "borescope/engine/partial/part_files.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "borescope/base/io/foreign_links.h"
#include "borescope/base/io/paths.h"
#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/engine/inputs/input_files.h"
#include "borescope/engine/inputs/shards.h"
#include "borescope/engine/partial/join_partials.h"
#include "borescope/engine/partial/part_source.h"
#include "borescope/engine/partial/questions.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/engine/question/question.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/partial.h"

namespace borescope {

namespace {

Result<void> MakeFolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) {
    BS_TRY(internal::CheckNoForeignLink(path));
    std::filesystem::create_directories(folder, failed);
  }
  if (failed) {
    return Error{.code = ErrorCode::kIo,
                 .cause = "cannot be made: " + failed.message(),
                 .remedy = "name a folder that can be written to",
                 .file = folder.string()};
  }
  return {};
}

// Whether all traces of a part are older than that, as far as the system says.
bool AreTracesOlder(const Partial& partial, std::filesystem::file_time_type begin) {
  const std::vector<internal::PartialFile>& files = PartialAccess::Inside(partial).files;
  return std::all_of(files.begin(), files.end(), [&](const internal::PartialFile& file) {
    std::error_code failed;
    const auto written = std::filesystem::last_write_time(file.path, failed);
    return !failed && written < begin;
  });
}

// A part that looks as new as the end of its map would be kept although a trace was written
// meanwhile: where its time cannot be set and one was, it does not stay.
Result<void> DateBack(const std::string& path, const Partial& partial,
                      std::filesystem::file_time_type begin) {
  const Result<internal::FileKind> kind = internal::KindOf(path);
  std::error_code failed;
  if (!kind.ok() || *kind == internal::FileKind::kFile) {
    std::filesystem::last_write_time(path, begin, failed);
  }
  if (failed && !AreTracesOlder(partial, begin)) {
    std::error_code ignored;
    if (kind.ok()) {
      std::filesystem::remove(path, ignored);
    }
    return Error{
        .code = ErrorCode::kIo,
        .cause = "a trace was written meanwhile, and the time of the part cannot be set: " +
                 failed.message(),
        .remedy = "map again, or write the part to another file system",
        .file = path};
  }
  return {};
}

}  // namespace

Result<PartFile> DescribePart(const Partial& partial, const std::string& path, bool was_kept) {
  BS_ASSIGN(const uint64_t bytes, internal::SizeOfFile(path));
  return PartFile{
      path, was_kept, bytes, partial.num_files(), partial.num_loaded(), partial.load_errors()};
}

Result<PartFile> MapToFile(const std::string& path, const std::function<Result<Partial>()>& map) {
  const auto begin = std::filesystem::file_time_type::clock::now();
  BS_ASSIGN(const Partial partial, map());
  BS_TRY(MakeFolderOf(path));
  BS_TRY(partial.Write(path));
  BS_TRY(DateBack(path, partial, begin));
  return DescribePart(partial, path, false);
}

namespace {

using internal::AnalysisSpec;

// What is mapped of each file.
struct MapQuestion {
  std::vector<const AnalysisSpec*> specs;
  internal::RunOptions options;
  internal::MapOptions map;
};

// The question of the report, which has many verbs.
MapQuestion OfReport(internal::RunOptions options) {
  internal::MappedQuestion asked =
      internal::QuestionOfReport(options.params, options.ranks, options.timeline);
  options.params = std::move(asked.params);
  return MapQuestion{std::move(asked.verbs), std::move(options), {std::nullopt, true}};
}

Result<MapQuestion> Understand(const Run& run, const Question& question) {
  internal::RunOptions options = RunAccess::Common(run);
  BS_TRY(internal::ReadQuestion(question, options));
  if (internal::IsOf(question, "report")) {
    return OfReport(std::move(options));
  }
  BS_ASSIGN(std::vector<const AnalysisSpec*> specs, internal::FindVerbs(question.verbs()));
  return MapQuestion{std::move(specs), std::move(options), {}};
}

Result<MapQuestion> UnderstandPart(const Run& run, const Question& question,
                                   const std::string& destination) {
  BS_ASSIGN(MapQuestion asked, Understand(run, question));
  asked.map.shard = RunAccess::MarkOf(run);
  BS_TRY(internal::CheckNoInput(internal::InputPaths(asked.options), destination, "`output`"));
  return asked;
}

Result<Partial> MapPart(const MapQuestion& question) {
  BS_ASSIGN(internal::PartialData partial,
            internal::MapPartial(question.specs, question.options, question.map));
  return PartialAccess::Make(std::move(partial));
}

}  // namespace

Result<Partial> Run::Map(const Question& question, const std::string& destination) const {
  BS_ASSIGN(const MapQuestion asked, UnderstandPart(*this, question, destination));
  return MapPart(asked);
}

Result<PartFile> Run::MapInto(const std::string& folder, const Question& question,
                              bool again) const {
  const internal::ShardMark mark = RunAccess::MarkOf(*this).value_or(internal::ShardMark());
  const std::string path = (std::filesystem::path(folder) / internal::PartFileName(mark)).string();
  BS_ASSIGN(const MapQuestion asked, UnderstandPart(*this, question, path));
  if (!again) {
    BS_ASSIGN(std::optional<internal::PartialData> kept,
              internal::FindMapped(path, asked.specs, asked.options, asked.map));
    if (kept.has_value()) {
      return DescribePart(PartialAccess::Make(std::move(*kept)), path, true);
    }
  }
  return MapToFile(path, [&] { return MapPart(asked); });
}

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
