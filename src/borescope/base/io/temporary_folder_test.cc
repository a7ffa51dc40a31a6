#include "borescope/base/io/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

// Sets TMPDIR, and restores it.
class TemporaryFolderTest : public testing::Test {
 protected:
  TemporaryFolderTest() {
    if (const char* before = std::getenv("TMPDIR"); before != nullptr) before_ = before;
  }
  ~TemporaryFolderTest() override {
    before_.has_value() ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
  }

 private:
  std::optional<std::string> before_;
};

TEST_F(TemporaryFolderTest, GoesWithAllThatIsInIt) {
  setenv("TMPDIR", testing::TempDir().c_str(), 1);
  std::string path;
  {
    const Result<TemporaryFolder> folder = TemporaryFolder::Make();
    ASSERT_TRUE(folder.ok()) << folder.error().Sentence();
    path = folder->path();
    EXPECT_TRUE(fs::equivalent(fs::path(path).parent_path(), testing::TempDir()));
    struct stat status{};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700);
    fs::create_directory(path + "/below");
    std::ofstream(path + "/below/file") << "content";
  }
  EXPECT_FALSE(fs::exists(path));
}

// More than the kernel names at once, folders in folders, and links, which are not followed.
TEST_F(TemporaryFolderTest, HoweverMuchIsInIt) {
  setenv("TMPDIR", testing::TempDir().c_str(), 1);
  const TemporaryFolder other = TemporaryFolder::Make().value();
  std::ofstream(other.path() + "/kept") << "content";
  std::string path;
  {
    const TemporaryFolder folder = TemporaryFolder::Make().value();
    path = folder.path();
    fs::create_directories(path + "/a/b/c/d");
    for (int i = 0; i < 500; ++i) {
      std::ofstream(path + "/a/b/" + std::string(40, 'n') + std::to_string(i)).flush();
      fs::create_directory(path + "/a/" + std::to_string(i));
    }
    fs::create_directory_symlink(other.path(), path + "/a/b/c/link");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(other.path() + "/kept"));
}

TEST_F(TemporaryFolderTest, TwoAreTwo) {
  const Result<TemporaryFolder> one = TemporaryFolder::Make();
  const Result<TemporaryFolder> other = TemporaryFolder::Make();
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->path(), other->path());
}

// Only folders of this program and this user, inaccessible to others and not in use.
TEST_F(TemporaryFolderTest, WhatWasAbandonedGoesWithTheNext) {
  const TemporaryFolder place = TemporaryFolder::Make().value();
  setenv("TMPDIR", place.path().c_str(), 1);
  const auto plant = [&](const std::string& name, bool has_lock, fs::perms perms) {
    const fs::path folder = fs::path(place.path()) / name;
    fs::create_directory(folder);
    std::ofstream(folder / "trace.pftrace") << "content";
    if (has_lock) std::ofstream(folder / ".borescope-lock").close();
    fs::permissions(folder, perms);
    return folder.string();
  };
  const std::string abandoned = plant("borescope-aaaaaa", true, fs::perms::owner_all);
  const std::string kept[] = {
      plant("borescope-bbbbbb", false, fs::perms::owner_all),
      plant("borescope-cccccc", true, fs::perms::owner_all | fs::perms::others_read),
      plant("borescope-dddd", true, fs::perms::owner_all),
      plant("mine", true, fs::perms::owner_all),
      place.path() + "/borescope-eeeeee",
  };
  fs::create_directory_symlink(place.path() + "/mine", place.path() + "/borescope-eeeeee");
  const TemporaryFolder used = TemporaryFolder::Make().value();
  const TemporaryFolder next = TemporaryFolder::Make().value();
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(used.path()));
  for (const std::string& folder : kept) {
    EXPECT_TRUE(fs::exists(folder + "/trace.pftrace")) << folder;
  }
}

// Somebody else could have put a folder there under our name.
TEST_F(TemporaryFolderTest, WhereOthersCanRenameNothingElseGoes) {
  const TemporaryFolder place = TemporaryFolder::Make().value();
  setenv("TMPDIR", place.path().c_str(), 1);
  const fs::path folder = fs::path(place.path()) / "borescope-aaaaaa";
  fs::create_directory(folder);
  std::ofstream(folder / ".borescope-lock").close();
  fs::permissions(folder, fs::perms::owner_all);
  fs::permissions(place.path(), fs::perms::all);
  const TemporaryFolder next = TemporaryFolder::Make().value();
  EXPECT_TRUE(fs::exists(folder));
}

TEST_F(TemporaryFolderTest, AMissingPlaceIsNamed) {
  setenv("TMPDIR", "/no/such/place", 1);
  const Result<TemporaryFolder> folder = TemporaryFolder::Make();
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().Sentence(),
            "/no/such/place: cannot make a temporary folder: No such file or directory; name "
            "another place with TMPDIR");
}

}  // namespace
}  // namespace borescope::internal
