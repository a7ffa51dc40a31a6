#include "borescope/base/spilled_blocks.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace borescope::internal {

namespace {

// TMPDIR as long as it lives.
class NamedFolder {
 public:
  explicit NamedFolder(const std::string& folder) {
    if (const char* const before = std::getenv("TMPDIR"); before != nullptr) before_ = before;
    setenv("TMPDIR", folder.c_str(), 1);
  }
  NamedFolder(const NamedFolder&) = delete;
  NamedFolder& operator=(const NamedFolder&) = delete;
  ~NamedFolder() {
    before_.has_value() ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
  }

 private:
  std::optional<std::string> before_;
};

struct stat About(const Descriptor& file) {
  struct stat about{};
  fstat(file.number(), &about);
  return about;
}

TEST(SpillFilesTest, HaveNoNameAndTheirSpace) {
  const std::string folder = testing::TempDir() + "/spill";
  std::filesystem::create_directory(folder);
  SpillFiles files(folder);
  const std::unique_ptr<Descriptor> file = files.Make(1 << 20);
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(About(*file).st_nlink, 0U);
  EXPECT_EQ(About(*file).st_mode & 0777U, 0600U);
  EXPECT_EQ(About(*file).st_size, 1 << 20);
  EXPECT_GE(About(*file).st_blocks * 512, 1 << 20) << "taken, not only promised";
  EXPECT_TRUE(files.Extend(file->number(), 1 << 20, 3 << 20));
  EXPECT_EQ(About(*file).st_size, 3 << 20);
  EXPECT_EQ(files.failure(), std::nullopt);
  EXPECT_GT(files.FreeBytes(), 0U);
}

TEST(SpillFilesTest, WithoutRoomSayWhy) {
  SpillFiles files(testing::TempDir());
  EXPECT_EQ(files.Make(uint64_t{1} << 62U), nullptr);
  ASSERT_TRUE(files.failure().has_value());
  EXPECT_NE(files.failure()->find("with TMPDIR"), std::string::npos);
}

TEST(SpillFilesTest, LieWhereTmpdirSaysAndThatIsADisk) {
  {
    const NamedFolder named("/no/such/folder");
    EXPECT_EQ(SpillFiles::Usual(), nullptr);
  }
  if (std::filesystem::exists("/dev/shm")) {
    const NamedFolder named("/dev/shm");
    EXPECT_EQ(SpillFiles::Usual(), nullptr) << "memory is no disk";
  }
}

}  // namespace

}  // namespace borescope::internal
