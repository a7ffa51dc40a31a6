#include "borescope/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/schema.h"

namespace borescope {
namespace {

// A rank with one launched kernel a microsecond `at`.
std::string TraceText(int at) {
  const std::string ts = std::to_string(at);
  return R"({"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":)" +
         ts + R"(,"dur":5,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)" +
         ts +
         R"(,"dur":2,"args":{"correlation":7}},
{"ph":"X","cat":"kernel","name":"add_kernel","pid":0,"tid":7,"ts":)" +
         ts +
         R"(9,"dur":3,"args":{"device":0,"stream":7,"correlation":7}}
]})";
}

using Identify = std::function<Result<std::string>()>;

Source Rank(int rank, std::atomic<int>* loads = nullptr, Identify identity = nullptr) {
  const std::string name = "rank-" + std::to_string(rank) + ".json";
  const auto bytes = std::make_shared<const std::string>(TraceText(rank + 1));
  if (loads == nullptr) {
    return Source::Memory(name, bytes);
  }
  class Bytes : public Reader {
   public:
    explicit Bytes(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}
    Result<size_t> Read(char* out, size_t capacity) override {
      const size_t size = std::min(capacity, text_->size() - at_);
      std::memcpy(out, text_->data() + at_, size);
      at_ += size;
      return size;
    }

   private:
    std::shared_ptr<const std::string> text_;
    size_t at_ = 0;
  };
  const auto open = [bytes, loads]() -> Result<std::unique_ptr<Reader>> {
    ++*loads;
    return std::unique_ptr<Reader>(std::make_unique<Bytes>(bytes));
  };
  return Source::Stream(name, open, std::move(identity));
}

std::string Json(const Result<Answer>& answer) {
  return answer.ok() ? *answer->Render("json") : answer.error().Sentence();
}

TEST(RunTest, AnswersFromMemory) {
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0), Rank(1)});
  ASSERT_TRUE(run.ok()) << run.error().Sentence();
  const Result<Answer> answer = run->Ask("kernels");
  ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
  Table kernels;
  ASSERT_TRUE(answer->Find("kernels", &kernels));
  Column count;
  ASSERT_TRUE(kernels.Find("count", &count));
  ASSERT_EQ(kernels.num_rows(), 1U);
  EXPECT_EQ(count.Int(0), 2);
  EXPECT_EQ(count.role(), "sum");
  Column name;
  ASSERT_TRUE(kernels.Find("name", &name));
  EXPECT_EQ(name.Text(0), "add_kernel");
  EXPECT_EQ(answer->files().size(), 2U);
  EXPECT_FALSE(kernels.Find("no such column", &name));
}

TEST(RunTest, LoadsOnceForSeveralQuestions) {
  std::atomic<int> loads = 0;
  Result<borescope::Run> run = borescope::Run::Open({Rank(0, &loads)});
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(loads, 0);
  EXPECT_TRUE(run->Ask("breakdown").ok());
  EXPECT_TRUE(run->Ask(Question::Of({"kernels", "idle"})).ok());
  EXPECT_TRUE(run->Query("SELECT count(*) FROM events").ok());
  EXPECT_EQ(loads, 1);
  EXPECT_GT(run->kept_bytes(), 0U);
  run->Forget();
  EXPECT_EQ(run->kept_bytes(), 0U);
  EXPECT_TRUE(run->Ask("breakdown").ok());
  EXPECT_EQ(loads, 2);
}

// The answer of a source with a cache, and how that was used for it.
std::pair<std::string, FileInfo> Cached(const Source& source, const OpenOptions& options) {
  const Result<borescope::Run> run = borescope::Run::Open({source}, options);
  const Result<Answer> answer =
      run.ok() ? run->Ask(Question::Of({"kernels", "idle"})) : Result<Answer>(run.error());
  return {Json(answer), answer.ok() ? answer->files().front() : FileInfo()};
}

TEST(RunTest, AStreamWhoseContentIsKnownIsReadOnce) {
  const auto folder = internal::TemporaryFolder::Make().value();
  const OpenOptions options{.cache = folder.path() + "/cache", .cache_needs_identity = true};
  std::string version = "one";
  std::atomic<int> loads = 0;
  const Source source = Rank(0, &loads, [&]() -> Result<std::string> { return version; });
  EXPECT_FALSE(IsInCache(options.cache, version));
  EXPECT_FALSE(std::filesystem::exists(options.cache)) << "to ask makes nothing";
  const auto [expected, first] = Cached(source, options);
  EXPECT_EQ(first.cache, CacheUse::kKept) << first.cache_failure;
  EXPECT_TRUE(IsInCache(options.cache, version));
  const auto [found, second] = Cached(source, options);
  EXPECT_EQ(second.cache, CacheUse::kFound);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(Cached(Rank(0, &loads), {}).first, expected);
  EXPECT_EQ(loads, 2);
  version = "two";
  EXPECT_EQ(Cached(source, options).second.cache, CacheUse::kKept);
  EXPECT_EQ(loads, 3);
}

TEST(RunTest, AStreamThatChangesOrIsUnknownIsNotKept) {
  const auto folder = internal::TemporaryFolder::Make().value();
  const OpenOptions options{.cache = folder.path() + "/cache"};
  std::atomic<int> loads = 0;
  int asked = 0;
  const auto [expected, changed] = Cached(
      Rank(0, &loads, [&]() -> Result<std::string> { return std::to_string(++asked); }), options);
  EXPECT_EQ(changed.cache, CacheUse::kFailed);
  EXPECT_NE(changed.cache_failure.find("changed"), std::string::npos) << changed.cache_failure;
  const auto [answer, unknown] = Cached(
      Rank(0, &loads, [] { return Result<std::string>(Error{.cause = "nobody knows"}); }), options);
  EXPECT_EQ(unknown.cache, CacheUse::kFailed);
  EXPECT_NE(unknown.cache_failure.find("nobody knows"), std::string::npos);
  EXPECT_EQ(answer, expected);
  EXPECT_EQ(Cached(Rank(0, &loads), options).second.cache, CacheUse::kNone);
  EXPECT_FALSE(IsInCache(options.cache, "1") || IsInCache(options.cache, ""));
}

TEST(RunTest, AFileMayBeFoundByWhatSomebodyElseKnows) {
  const auto folder = internal::TemporaryFolder::Make().value();
  const OpenOptions options{.cache = folder.path() + "/cache", .cache_needs_identity = true};
  Source file(folder.path() + "/rank-0.json");
  std::ofstream(file.path) << TraceText(1);
  EXPECT_EQ(Cached(file, options).second.cache, CacheUse::kNone);
  EXPECT_FALSE(std::filesystem::exists(options.cache)) << "none of the sources is for it";
  file.identity = [] { return Result<std::string>("the copy of something"); };
  const auto [expected, first] = Cached(file, options);
  EXPECT_EQ(first.cache, CacheUse::kKept) << first.cache_failure;
  std::filesystem::remove(file.path);
  const auto [found, second] = Cached(file, options);
  EXPECT_EQ(second.cache, CacheUse::kFound);
  EXPECT_EQ(found, expected);
}

TEST(RunTest, SharedHandlesStopAloneAndLoadOnce) {
  std::atomic<int> loads = 0;
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0, &loads)});
  ASSERT_TRUE(run.ok());
  std::stop_source stop;
  size_t files = 0;
  const borescope::Run shared =
      run->Share(stop.get_token(), [&](const Progress& progress) { files = progress.done_files; });
  const std::string expected = Json(shared.Ask("kernels"));
  EXPECT_EQ(files, 1U);
  stop.request_stop();
  EXPECT_EQ(shared.Ask("kernels").error().code, ErrorCode::kCancelled);
  EXPECT_EQ(Json(run->Ask("kernels")), expected);
  EXPECT_EQ(loads, 1);
}

TEST(RunTest, SharedHandlesOutliveTheFirst) {
  Result<borescope::Run> run = borescope::Run::Open({Rank(0)});
  ASSERT_TRUE(run.ok());
  const std::string expected = Json(run->Ask("kernels"));
  const borescope::Run shared = run->Share({});
  run = Error{};
  EXPECT_EQ(Json(shared.Ask("kernels")), expected);
}

TEST(RunTest, KeepsNothingBeyondItsBudget) {
  std::atomic<int> loads = 0;
  OpenOptions options;
  options.keep_bytes = 0;
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0, &loads)}, options);
  ASSERT_TRUE(run.ok());
  const std::string first = Json(run->Ask("kernels"));
  EXPECT_EQ(Json(run->Ask("kernels")), first);
  EXPECT_EQ(loads, 2);
  EXPECT_TRUE(run->Query("SELECT count(*) FROM events").ok());
  EXPECT_TRUE(run->Query("SELECT count(*) FROM events").ok());
  EXPECT_EQ(loads, 4);
  EXPECT_EQ(run->kept_bytes(), 0U);
}

TEST(RunTest, ThreadsShareOneLoad) {
  std::atomic<int> loads = 0;
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0, &loads), Rank(1, &loads)});
  ASSERT_TRUE(run.ok());
  const std::string expected = Json(borescope::Run::Open({Rank(0), Rank(1)})->Ask("breakdown"));
  std::vector<std::string> answers(4);
  std::vector<std::thread> threads;
  for (std::string& answer : answers) {
    threads.emplace_back([&] { answer = Json(run->Ask("breakdown")); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(answers, std::vector<std::string>(4, expected));
}

TEST(RunTest, PartsReduceToTheSameBytes) {
  const std::string expected = Json(
      borescope::Run::Open({Rank(0), Rank(1), Rank(2)})->Ask(Question::Of({"kernels", "idle"})));
  std::vector<Partial> parts;
  for (const int rank : {2, 0, 1}) {
    const Result<Partial> part =
        borescope::Run::Open({Rank(rank)})->Map(Question::Of({"kernels", "idle"}));
    ASSERT_TRUE(part.ok()) << part.error().Sentence();
    const Result<Partial> parsed = Partial::Parse(*part->Serialize(), "part");
    ASSERT_TRUE(parsed.ok()) << parsed.error().Sentence();
    parts.push_back(*parsed);
  }
  EXPECT_EQ(Json(Reduce(parts)), expected);
  const std::vector<Partial> tree = {*Merge(std::vector<Partial>{parts[1], parts[0]}), parts[2]};
  EXPECT_EQ(Json(Reduce(tree)), expected);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Reduce(tree, {{}, std::nullopt, stop.get_token()}).error().code, ErrorCode::kCancelled);
  EXPECT_EQ(Merge(tree, stop.get_token()).error().code, ErrorCode::kCancelled);
}

// A run divided by the numbers of its files, as workers do it.
TEST(RunTest, SomeOfTheFilesAreARun) {
  const Result<borescope::Run> all = borescope::Run::Open({Rank(0), Rank(1), Rank(2)});
  std::vector<Partial> parts;
  for (const std::vector<size_t>& files : {std::vector<size_t>{2}, {0, 1}}) {
    const Result<borescope::Run> some = all->Only(files, 0);
    ASSERT_TRUE(some.ok()) << some.error().Sentence();
    EXPECT_EQ(some->paths().size(), files.size());
    EXPECT_EQ(some->paths().front(), all->paths()[files.front()]);
    parts.push_back(*some->Map("kernels"));
  }
  EXPECT_EQ(Json(Reduce(parts)), Json(all->Ask("kernels")));
  EXPECT_EQ(all->Only(std::vector<size_t>{3}, 0).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(all->Only({}, 0).error().code, ErrorCode::kInvalidArgument);
}

TEST(RunTest, ShardsAreMappedIntoAFolderAndReducedFromIt) {
  std::string folder = (std::filesystem::temp_directory_path() / "borescope_parts_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto map = [&](uint32_t index) {
    OpenOptions options;
    options.shard = Shard{index, 2};
    return borescope::Run::Open({Rank(0), Rank(1), Rank(2)}, options)->MapInto(folder, "kernels");
  };
  const Result<PartFile> first = map(0);
  ASSERT_TRUE(first.ok()) << first.error().Sentence();
  EXPECT_EQ(first->path, folder + "/00000-of-00002.part");
  EXPECT_FALSE(first->was_kept);
  EXPECT_EQ(first->files, 2U);
  EXPECT_EQ(first->bytes, std::filesystem::file_size(first->path));
  const std::string inputs[] = {folder};
  EXPECT_EQ(Reduce(FindParts(inputs)->parts)->diagnostics().front().code, "missing-parts");
  ASSERT_TRUE(map(1).ok());
  EXPECT_TRUE(*HoldParts(inputs));
  EXPECT_EQ(Json(Reduce(FindParts(inputs)->parts, {{}, 3, {}})),
            Json(borescope::Run::Open({Rank(0), Rank(1), Rank(2)})->Ask("kernels")));
  EXPECT_EQ(Reduce(FindParts(inputs)->parts, {{}, 2, {}}).error().code,
            ErrorCode::kInvalidArgument);
  // Recordings in memory may be others each time: nothing is kept.
  EXPECT_FALSE(map(0)->was_kept);
  std::filesystem::remove_all(folder);
}

TEST(RunTest, ASourceWithoutAFileIsAnError) {
  const auto folder = internal::TemporaryFolder::Make().value();
  const std::string there = folder.path() + "/rank-0.json";
  std::ofstream(there) << TraceText(1);
  const std::string absent = folder.path() + "/absent.json";
  for (const std::vector<Source>& sources :
       {std::vector<Source>{absent}, {there, absent}, {absent, Rank(1)}}) {
    const Result<borescope::Run> run = borescope::Run::Open(sources);
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.error().code, ErrorCode::kIo);
    EXPECT_EQ(run.error().file, absent);
    EXPECT_FALSE(run.error().remedy.empty());
  }
  EXPECT_EQ(borescope::Run::Open({folder.path() + "/*.absent"}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(borescope::Run::Open({there, Rank(1)}).ok());
}

TEST(RunTest, ErrorsNameTheParameter) {
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0)});
  const Error unknown = run->Ask({"idle", {{"kernel_wiat", "1us"}}}).error();
  EXPECT_EQ(unknown.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(unknown.parameter, "kernel_wiat");
  EXPECT_EQ(unknown.remedy, "did you mean 'kernel_wait'?");
  const Error bad = run->Ask({"idle", {{"kernel_wait", "soon"}}}).error();
  EXPECT_EQ(bad.parameter, "kernel_wait");
  EXPECT_EQ(bad.cause.find("--"), std::string::npos) << bad.cause;
  const Error verb = run->Ask("idel").error();
  EXPECT_EQ(verb.remedy, "did you mean 'idle'?");
}

TEST(RunTest, ErrorsNameTheFile) {
  const auto bytes = std::make_shared<const std::string>("this is no trace");
  const Result<borescope::Run> run = borescope::Run::Open({Source::Memory("notes.txt", bytes)});
  const Error error = run->Ask("breakdown").error();
  EXPECT_EQ(error.code, ErrorCode::kUnsupportedFormat);
  EXPECT_EQ(error.file, "notes.txt");
  EXPECT_EQ(error.offset, 0U);
  EXPECT_FALSE(error.remedy.empty());
  EXPECT_TRUE(error.Sentence().starts_with("notes.txt: byte 0: ")) << error.Sentence();
  EXPECT_EQ(borescope::Run::Open({Source("/no/such/folder/*.json")}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(RunTest, AStopEndsALoad) {
  std::stop_source stop;
  stop.request_stop();
  OpenOptions options;
  options.stop = stop.get_token();
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0)}, options);
  EXPECT_EQ(run->Ask("breakdown").error().code, ErrorCode::kCancelled);
}

TEST(RunTest, ComparesTwoRuns) {
  const Result<borescope::Run> base = borescope::Run::Open({Rank(0)});
  const Result<borescope::Run> test = borescope::Run::Open({Rank(1)});
  EXPECT_TRUE(base->Compare(*test, "diff").ok());
  EXPECT_EQ(base->Ask("diff").error().remedy, "call Run::Compare");
  EXPECT_EQ(base->Compare(*test, "idle").error().remedy, "call Run::Ask");
}

TEST(SchemaTest, EveryVerbCanBeAskedWithItsDefaults) {
  const Result<borescope::Run> run = borescope::Run::Open({Rank(0)});
  for (const VerbInfo& verb : Describe().verbs) {
    EXPECT_FALSE(verb.summary.empty()) << verb.name;
    for (const ParameterInfo& parameter : verb.parameters) {
      EXPECT_FALSE(parameter.doc.empty()) << verb.name << " " << parameter.name;
      EXPECT_EQ(parameter.name.find('-'), std::string::npos) << parameter.name;
    }
    if (!verb.takes_two) {
      const Result<Answer> answer = run->Ask(verb.name);
      EXPECT_TRUE(answer.ok() || answer.error().code == ErrorCode::kMissingData)
          << verb.name << ": " << answer.error().Sentence();
    }
  }
}

}  // namespace
}  // namespace borescope
