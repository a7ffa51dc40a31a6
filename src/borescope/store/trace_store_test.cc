#include "borescope/store/trace_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/store/store_folder.h"
#include "borescope/testing/foreign_link.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kPlenty = uint64_t{1} << 30;

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Where a record of a file that was seen has said which file it is.
constexpr size_t kIdentityEnd = 48;

// As if the file had been left alone for a long time before it was looked at.
void MakeOld(const std::string& path) {
  const timespec times[2] = {{1000, 5}, {1000, 5}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

class TraceStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    input_ = folder_.path() + "/input.json";
    Write(input_, "some content");
    trace_.Launched("gemm", {10, 5}, {20, 30}, {1});
    trace_.Op("aten::mm", {5, 20});
    view_ = &trace_.View();
  }

  std::string Folder() const { return folder_.path() + "/cache"; }
  std::shared_ptr<TraceStore> Store(uint64_t most_bytes = kPlenty) const {
    return TraceStore::Open(Folder(), most_bytes).value();
  }
  InputContent ContentNow(TraceStore& store) const { return store.ContentOf(input_, 2).value(); }
  Result<void> Keep(TraceStore& store, const InputContent& content) {
    return store.Keep(content, view_->trace, view_->index, 2);
  }

  std::vector<std::string> Files(std::string_view ending) const {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(Folder())) {
      if (entry.path().string().ends_with(ending)) {
        files.push_back(entry.path().string());
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  TemporaryFolder folder_ = TemporaryFolder::Make().value();
  std::string input_;
  TestTrace trace_;
  const RankView* view_ = nullptr;
};

TEST_F(TraceStoreTest, WhatIsKeptIsFoundByTheNextProcess) {
  const InputContent content = ContentNow(*Store());
  EXPECT_FALSE(Store()->Find(content, {}, 2).value().has_value());
  const Result<void> kept = Keep(*Store(), content);
  ASSERT_TRUE(kept.ok()) << kept.error().Sentence();
  const Result<std::optional<StoredTrace>> found =
      Store()->Find(ContentNow(*Store()), {"name.json", nullptr}, 2);
  ASSERT_TRUE(found.ok()) << found.error().Sentence();
  ASSERT_TRUE(found->has_value());
  EXPECT_EQ((*found)->trace.meta().file, "name.json");
  EXPECT_EQ((*found)->trace.device().size(), 1U);
  EXPECT_EQ((*found)->trace.Name(DeviceId{0}), "gemm");
  EXPECT_TRUE((*found)->index.correlation.op_of[0].valid());
}

TEST_F(TraceStoreTest, WhatTheSystemCannotTellIsNotTakenForAbsent) {
  const InputContent content = ContentNow(*Store());
  ASSERT_TRUE(Keep(*Store(), content).ok());
  const std::string kept = Files(kTraceEnding).front();
  fs::remove(kept);
  EXPECT_FALSE(Store()->Find(content, {}, 1).value().has_value());
  fs::create_symlink(kept, kept);  // a loop
  const Result<std::optional<StoredTrace>> found = Store()->Find(content, {}, 1);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().file, kept);
}

TEST_F(TraceStoreTest, FilesAreForThisUserAlone) {
  ASSERT_TRUE(Keep(*Store(), ContentNow(*Store())).ok());
  EXPECT_EQ(fs::status(Folder()).permissions(), fs::perms::owner_all);
  size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(Folder())) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 2U);  // the secret and the trace
}

// The content says which trace it is, not the place or the times of the file.
TEST_F(TraceStoreTest, CopiesAreOneAndChangesAreAnother) {
  const std::shared_ptr<TraceStore> store = Store();
  const InputContent content = ContentNow(*store);
  fs::copy_file(input_, folder_.path() + "/copy.json");
  EXPECT_EQ(store->ContentOf(folder_.path() + "/copy.json", 1)->hash, content.hash);
  Write(input_, "Some content");
  EXPECT_NE(ContentNow(*store).hash, content.hash);
}

// Somebody writes other bytes in place, and sets the times back.
TEST_F(TraceStoreTest, AChangeOfEqualSizeAndTimeIsNoticed) {
  const std::shared_ptr<TraceStore> store = Store();
  for (const int pause_ms : {0, 2100}) {
    Write(input_, "some content");
    MakeOld(input_);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    const InputContent before = ContentNow(*store);
    EXPECT_EQ(Files(kSeenEnding).empty(), pause_ms == 0) << "remembered once it can be believed";
    const int file = open(input_.c_str(), O_WRONLY);
    ASSERT_EQ(pwrite(file, "SOME", 4, 0), 4);
    close(file);
    MakeOld(input_);
    EXPECT_EQ(FileIdentity::Of(input_)->written_ns, before.identity.written_ns);
    EXPECT_NE(ContentNow(*store).hash, before.hash);
    EXPECT_FALSE(store->IsStill(input_, before, 1));
  }
}

// The content of a file that was left alone is known without reading it: made unreadable by what
// the store believes, here by a record of another content.
TEST_F(TraceStoreTest, AFileThatWasLeftAloneIsNotReadAgain) {
  const std::shared_ptr<TraceStore> store = Store();
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  const InputContent content = ContentNow(*store);
  const std::vector<std::string> seen = Files(kSeenEnding);
  if (seen.empty()) {
    GTEST_SKIP() << "the file system of " << input_ << " is none whose times are believed";
  }
  const std::string record = Content(seen.front());
  EXPECT_EQ(ContentNow(*store).hash, content.hash);
  EXPECT_EQ(Content(seen.front()), record);
  std::string damaged = record;
  for (size_t at = 0; at < damaged.size(); ++at) {
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Write(seen.front(), damaged);
    EXPECT_EQ(ContentNow(*store).hash, content.hash) << at;
    EXPECT_EQ(Content(seen.front()).substr(0, kIdentityEnd), record.substr(0, kIdentityEnd));
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
  }
}

TEST_F(TraceStoreTest, WhatSomebodyElseKnowsIsFoundByItsName) {
  const InputContent one = Store()->ContentCalled("version one");
  EXPECT_FALSE(Store()->Has(one));
  ASSERT_TRUE(Keep(*Store(), one).ok());
  EXPECT_TRUE(Store()->Has(Store()->ContentCalled("version one")));
  EXPECT_TRUE(Store()->Find(Store()->ContentCalled("version one"), {}, 1)->has_value());
  EXPECT_FALSE(Store()->Has(Store()->ContentCalled("version two")));
  EXPECT_FALSE(Store()->Has(Store()->ContentCalled("")));
}

// Nor by a file that holds what it is called.
TEST_F(TraceStoreTest, WhatSomebodyElseKnowsIsNotFoundByAFile) {
  const std::shared_ptr<TraceStore> store = Store();
  Write(input_, "version one");
  const InputContent called = store->ContentCalled("version one");
  const InputContent file = ContentNow(*store);
  EXPECT_NE(called.hash, file.hash);
  Write(input_, "called " + std::string(reinterpret_cast<const char*>(file.hash.words.data()),
                                        sizeof file.hash.words));
  EXPECT_EQ(called.hash, ContentNow(*store).hash) << "who knows the key of the folder may do that";
}

TEST_F(TraceStoreTest, NoOrdinaryFileHasNoContent) {
  EXPECT_FALSE(Store()->ContentOf(folder_.path(), 1).ok());
  EXPECT_FALSE(Store()->ContentOf("/dev/null", 1).ok());
  EXPECT_FALSE(Store()->ContentOf(folder_.path() + "/missing", 1).ok());
}

TEST_F(TraceStoreTest, DamageIsNotUsed) {
  const std::shared_ptr<TraceStore> store = Store();
  const InputContent content = ContentNow(*store);
  ASSERT_TRUE(Keep(*store, content).ok());
  const std::string path = Files(kTraceEnding).front();
  const std::string sound = Content(path);
  for (const std::string& bytes :
       {std::string(), sound.substr(0, 40), sound.substr(0, sound.size() - 1), sound + "x"}) {
    Write(path, bytes);
    const Result<std::optional<StoredTrace>> found = store->Find(content, {}, 1);
    ASSERT_FALSE(found.ok());
    EXPECT_TRUE(found.error().Sentence().starts_with(path)) << found.error().Sentence();
  }
  ASSERT_TRUE(Keep(*store, content).ok());
  EXPECT_TRUE(store->Find(content, {}, 1)->has_value());
}

TEST_F(TraceStoreTest, LinksAndFilesOthersMayWriteToAreNotRead) {
  const std::shared_ptr<TraceStore> store = Store();
  const InputContent content = ContentNow(*store);
  ASSERT_TRUE(Keep(*store, content).ok());
  const std::string path = Files(kTraceEnding).front();
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_FALSE(store->Find(content, {}, 1).ok());
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_TRUE(store->Find(content, {}, 1).ok());
  fs::rename(path, folder_.path() + "/elsewhere");
  fs::create_symlink(folder_.path() + "/elsewhere", path);
  EXPECT_FALSE(store->Find(content, {}, 1).ok());
}

TEST_F(TraceStoreTest, OldestGoFirstAndFilesOfOthersStay) {
  const std::shared_ptr<TraceStore> store = Store();
  const InputContent first = ContentNow(*store);
  ASSERT_TRUE(Keep(*store, first).ok());
  const std::string oldest = Files(kTraceEnding).front();
  MakeOld(oldest);
  const std::string foreign = Folder() + "/" + std::string(32, 'a') + ".trace";
  Write(foreign, "not one of ours, in spite of its name");
  MakeOld(foreign);
  Write(Folder() + "/notes.txt", "mine");
  const uint64_t bytes = fs::file_size(oldest);
  Write(input_, "other content");
  const std::shared_ptr<TraceStore> small = Store(bytes + bytes / 2);
  const InputContent second = ContentNow(*small);
  ASSERT_TRUE(Keep(*small, second).ok());
  EXPECT_FALSE(fs::exists(oldest));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(Folder() + "/notes.txt"));
  EXPECT_TRUE(small->Find(second, {}, 1)->has_value());
}

TEST_F(TraceStoreTest, UseMakesATraceYoung) {
  const std::shared_ptr<TraceStore> store = Store();
  const InputContent content = ContentNow(*store);
  ASSERT_TRUE(Keep(*store, content).ok());
  const std::string path = Files(kTraceEnding).front();
  MakeOld(path);
  ASSERT_TRUE(store->Find(content, {}, 1)->has_value());
  EXPECT_GT(FileIdentity::Of(path)->written_ns, int64_t{1'000'000'000'000'000'000});
}

TEST_F(TraceStoreTest, ATraceThatAloneIsTooLargeIsNotKept) {
  const std::shared_ptr<TraceStore> store = Store(1000);
  const Result<void> kept = Keep(*store, ContentNow(*store));
  ASSERT_FALSE(kept.ok());
  EXPECT_NE(kept.error().Sentence().find("`cache_size`"), std::string::npos);
  EXPECT_TRUE(Files(kTraceEnding).empty());
}

TEST_F(TraceStoreTest, DraftsOfProcessesThatWereKilledGo) {
  const std::shared_ptr<TraceStore> store = Store();
  const std::string draft = Folder() + "/." + std::string(32, '0') + ".trace.Ab12Cd";
  Write(draft, "half");
  ASSERT_TRUE(Keep(*store, ContentNow(*store)).ok());
  EXPECT_TRUE(fs::exists(draft)) << "its process may still be at work";
  MakeOld(draft);
  ASSERT_TRUE(Keep(*store, ContentNow(*store)).ok());
  EXPECT_FALSE(fs::exists(draft));
}

// Whatever others do meanwhile, a trace is found whole or not at all.
TEST_F(TraceStoreTest, ManyThreadsMayUseItAtOnce) {
  const InputContent content = ContentNow(*Store());
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      const std::shared_ptr<TraceStore> store = Store(thread == 0 ? 6000 : kPlenty);
      for (int i = 0; i < 50; ++i) {
        static_cast<void>(store->Keep(content, view_->trace, view_->index, 1));
        const Result<std::optional<StoredTrace>> found = store->Find(content, {}, 1);
        EXPECT_TRUE(!found.ok() ? found.error().code == ErrorCode::kIo : true)
            << found.error().Sentence();
      }
    });
  }
}

// Another reason than that the path leads to no ordinary file.
TEST_F(TraceStoreTest, WhyAFileCannotBeOpenedIsSaid) {
  const Result<InputContent> missing = Store()->ContentOf(folder_.path() + "/missing", 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().Sentence().find("No such file"), std::string::npos)
      << missing.error().Sentence();
}

// Before anything takes room on the disk.
TEST_F(TraceStoreTest, WhatIsTooLargeIsRefusedByItsHead) {
  const std::shared_ptr<TraceStore> store = Store();
  ASSERT_TRUE(Keep(*store, ContentNow(*store)).ok());
  const uint64_t bytes = fs::file_size(Files(kTraceEnding).front());
  EXPECT_TRUE(Keep(*Store(bytes), ContentNow(*store)).ok());
  EXPECT_FALSE(Keep(*Store(bytes - 1), ContentNow(*store)).ok());
}

TEST_F(TraceStoreTest, AFolderWithASlashAtItsEndIsForThisUserAlone) {
  for (const char* slashes : {"/", "//"}) {
    const std::string folder = folder_.path() + "/slash" + std::to_string(std::strlen(slashes));
    ASSERT_TRUE(TraceStore::Open(folder + slashes, kPlenty).ok());
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all) << slashes;
  }
}

// Links in the place of what the store has are not followed: what they lead to is somebody's.
TEST_F(TraceStoreTest, NothingIsKeptThroughALinkOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make links of others";
  const ForeignLink link;
  link.GiveAway();
  for (const std::string& path : {link.path(), link.path() + "/", link.path() + "/new/cache"}) {
    const auto refused = TraceStore::Open(path, kPlenty);
    ASSERT_FALSE(refused.ok()) << path;
    EXPECT_NE(refused.error().Sentence().find("another user"), std::string::npos);
  }
  EXPECT_TRUE(fs::is_empty(link.victim()));
}

TEST_F(TraceStoreTest, UseOfALinkDoesNotTouchWhatItLeadsTo) {
  MakeOld(input_);
  const FileIdentity before = FileIdentity::Of(input_).value();
  fs::create_symlink(input_, folder_.path() + "/link");
  MarkUsed(folder_.path() + "/link");
  EXPECT_EQ(FileIdentity::Of(input_), before);
}

TEST_F(TraceStoreTest, TimesAfterTheLastOneOfThisClockAreTheLast) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Nanoseconds({3, 7}), 3'000'000'007);
  EXPECT_EQ(Nanoseconds({-3, 7}), -2'999'999'993);
  EXPECT_EQ(Nanoseconds({9'223'372'036, 999'999'999}), kLast);
  EXPECT_EQ(Nanoseconds({kLast, 0}), 9'223'372'036'000'000'000);
  EXPECT_LT(Nanoseconds({std::numeric_limits<int64_t>::min(), 0}), -9'223'372'035'000'000'000);
}

// What is read into memory is what is mapped.
TEST_F(TraceStoreTest, AFileThatIsNotMappedIsRead) {
  const std::string path = folder_.path() + "/private";
  for (const std::string& text : {std::string(), std::string("x"), std::string(100'000, 'y')}) {
    ASSERT_TRUE(WritePrivateFile(path, [&](const PutPiece& put) { return put(text); }).ok());
    EXPECT_EQ(PrivateFile::Map(path).value()->bytes(), text);
    const std::shared_ptr<const PrivateFile> read = PrivateFile::Read(path).value();
    Write(path, "something else that is written in place");
    EXPECT_EQ(read->bytes(), text) << "of its own memory";
  }
}

// Of several that make a file at once, all have that of one.
TEST_F(TraceStoreTest, AFileThatIsThereStaysWhenItIsMade) {
  const std::string path = folder_.path() + "/made";
  ASSERT_TRUE(MakePrivateFile(path, "first").ok());
  ASSERT_TRUE(MakePrivateFile(path, "second").ok());
  EXPECT_EQ(Content(path), "first");
  size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
    files += entry.path().filename().string().starts_with(".made.") ? 1 : 0;
  }
  EXPECT_EQ(files, 0U) << "drafts are left";
}

TEST_F(TraceStoreTest, ThreadsThatMakeTheSecretAtOnceHaveTheSame) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::string folder = folder_.path() + "/" + std::to_string(attempt);
    ASSERT_TRUE(MakeStoreFolder(folder).ok());
    std::vector<SecretHash::Secret> secrets(8);
    {
      std::vector<std::jthread> threads;
      threads.reserve(secrets.size());
      for (SecretHash::Secret& secret : secrets) {
        threads.emplace_back([&secret, &folder] { secret = SecretOfFolder(folder).value(); });
      }
    }
    EXPECT_EQ(std::set(secrets.begin(), secrets.end()).size(), 1U);
  }
}

TEST_F(TraceStoreTest, WhatIsNoSecretIsReplaced) {
  ASSERT_TRUE(MakeStoreFolder(Folder()).ok());
  const std::string key = Folder() + "/borescope-cache.key";
  ASSERT_TRUE(MakePrivateFile(key, "short").ok());
  ASSERT_TRUE(SecretOfFolder(Folder()).ok());
  EXPECT_EQ(fs::file_size(key), sizeof(SecretHash::Secret));
}

TEST_F(TraceStoreTest, AFolderThatCannotBeUsedIsAnError) {
  Write(folder_.path() + "/file", "");
  EXPECT_FALSE(TraceStore::Open(folder_.path() + "/file", kPlenty).ok());
  EXPECT_FALSE(TraceStore::Open(folder_.path() + "/file/below", kPlenty).ok());
  EXPECT_TRUE(TraceStore::Open(folder_.path() + "/a/b/c", kPlenty).ok());
}

}  // namespace
}  // namespace borescope::internal
