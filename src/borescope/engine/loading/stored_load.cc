#include "borescope/engine/loading/stored_load.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "borescope/base/stopwatch.h"
#include "borescope/store/trace_store.h"

namespace borescope::internal {
namespace {

bool HasLogBeside(const std::string& path) {
  constexpr std::string_view kBeside[] = {"-journal", "-wal", "-shm"};
  return std::any_of(std::begin(kBeside), std::end(kBeside), [&](std::string_view ending) {
    return access((path + std::string(ending)).c_str(), F_OK) == 0;
  });
}

// A database with a journal or a log beside it: what it holds is not all in the file. SQLite looks
// for these beside the file that a link leads to.
bool HasUnfinishedWrites(const std::string& path) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  return error || HasLogBeside(path) || HasLogBeside(file.string());
}

// Inputs that follow from the content of one file, and from all of it. Recordings of borescope
// record are of several, and may still grow; what comes from a pipe or a program can be read once,
// unless it is known which content it is.
bool IsForStore(const InputFile& input) {
  if (input.store == nullptr || !input.logs.empty() || input.rank_in_file.has_value()) {
    return false;
  }
  return input.identity != nullptr ||
         (input.content == nullptr && input.path != "-" &&
          FileIdentity::Of(input.path).has_value() && !HasUnfinishedWrites(input.path));
}

Result<InputContent> ContentOf(const InputFile& input, int threads) {
  if (input.identity == nullptr) {
    return input.store->ContentOf(input.path, threads);
  }
  BS_ASSIGN(const std::string identity, InFile(input.path, input.identity()));
  return input.store->ContentCalled(identity);
}

Result<bool> IsStill(const InputFile& input, const InputContent& content, int threads) {
  if (input.identity == nullptr) {
    return input.store->IsStill(input.path, content, threads) && !HasUnfinishedWrites(input.path);
  }
  BS_ASSIGN(const InputContent now, ContentOf(input, threads));
  return now.hash == content.hash;
}

StoreReport Kept(const InputFile& input, const InputContent& content, const LoadedTrace& loaded,
                 int threads) {
  const Meta& meta = loaded.trace.meta();
  if (meta.format == TraceFormat::kRecording || meta.remedy != RemedyOf(meta.format)) {
    return {};
  }
  const Result<bool> is_still = IsStill(input, content, threads);
  if (!is_still.ok() || !*is_still) {
    return {StoreUse::kFailed, is_still.ok() ? input.path + ": changed while it was read"
                                             : WithOptions(is_still.error().Sentence())};
  }
  const Result<void> kept = input.store->Keep(content, loaded.trace, loaded.index, threads);
  return kept.ok() ? StoreReport{StoreUse::kKept, {}}
                   : StoreReport{StoreUse::kFailed,
                                 WithOptions(InFile(input.path, kept.error()).Sentence())};
}

// Loads the input and keeps it, unless its content is not known. `failure` of the store before.
Result<LoadedTrace> LoadAndKeep(const InputFile& input, const LoadOptions& options,
                                const Result<InputContent>& content, std::string failure) {
  BS_ASSIGN(LoadedTrace loaded, LoadAndIndex(input, options));
  if (content.ok()) {
    loaded.store = Kept(input, *content, loaded, options.threads);
  }
  if (!failure.empty()) {
    loaded.store = {StoreUse::kFailed, std::move(failure)};
  }
  return loaded;
}

}  // namespace

Result<LoadedTrace> LoadStored(const InputFile& input, const LoadOptions& options) {
  if (!input.store_failure.empty()) {
    BS_ASSIGN(LoadedTrace loaded, LoadAndIndex(input, options));
    loaded.store = {StoreUse::kFailed, input.store_failure};
    return loaded;
  }
  if (!IsForStore(input)) {
    return LoadAndIndex(input, options);
  }
  const Stopwatch stopwatch;
  const Result<InputContent> content = ContentOf(input, options.threads);
  if (!content.ok()) {
    return LoadAndKeep(input, options, content, WithOptions(content.error().Sentence()));
  }
  Result<std::optional<StoredTrace>> found =
      input.store->Find(*content, {input.path, RemedyOf}, options.threads);
  if (!found.ok() || !found->has_value()) {
    return LoadAndKeep(input, options, content,
                       found.ok() ? "" : WithOptions(found.error().Sentence()));
  }
  StoredTrace& stored = **found;
  LoadedTrace loaded{std::move(stored.trace), std::move(stored.index), stopwatch.elapsed_ns(), 0};
  loaded.store.use = StoreUse::kFound;
  return loaded;
}

}  // namespace borescope::internal
