#include "borescope/base/sqlite/confined_sqlite.h"

#include <sqlite3.h>

#include <memory>
#include <string_view>
#include <utility>

namespace borescope::internal {
namespace {

// The file system as SQLite sees it (https://www.sqlite.org/vfs.html): the standard one, but for
// files outside of a folder.
class Confined {
 public:
  explicit Confined(std::string folder)
      : standard_(sqlite3_vfs_find(nullptr)), folder_(std::move(folder)) {
    if (standard_ == nullptr) {
      return;
    }
    name_ = "borescope " + folder_;
    vfs_ = *standard_;
    vfs_.pNext = nullptr;
    vfs_.zName = name_.c_str();
    vfs_.xOpen = [](sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
      const Confined& own = Of(vfs);
      file->pMethods = nullptr;
      return own.IsInside(path) ? own.standard_->xOpen(own.standard_, path, file, flags, out)
                                : SQLITE_CANTOPEN;
    };
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* path, int sync_folder) {
      const Confined& own = Of(vfs);
      return own.IsInside(path) ? own.standard_->xDelete(own.standard_, path, sync_folder)
                                : SQLITE_CANTOPEN;
    };
    // object.
    vfs_.pAppData = this;
    vfs_.xFullPathname = [](sqlite3_vfs* vfs, const char* path, int size, char* out) {
      const Confined& own = Of(vfs);
      return own.standard_->xFullPathname(own.standard_, path, size, out);
    };
    vfs_.xAccess = [](sqlite3_vfs* vfs, const char* path, int flags, int* out) {
      const Confined& own = Of(vfs);
      return own.standard_->xAccess(own.standard_, path, flags, out);
    };
    is_registered_ = sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK;
  }
  Confined(const Confined&) = delete;
  Confined& operator=(const Confined&) = delete;
  ~Confined() {
    if (is_registered_) {
      sqlite3_vfs_unregister(&vfs_);
    }
  }

  // nullptr if there was no memory.
  const char* name() const { return is_registered_ ? name_.c_str() : nullptr; }

 private:
  static const Confined& Of(const sqlite3_vfs* vfs) {
    return *static_cast<const Confined*>(vfs->pAppData);
  }

  // No path: a temporary file of SQLite's own.
  bool IsInside(const char* path) const {
    const std::string_view text = path == nullptr ? std::string_view(folder_) : path;
    return text.starts_with(folder_) && text.find('/', folder_.size()) == std::string_view::npos;
  }

  sqlite3_vfs vfs_{};
  sqlite3_vfs* standard_;
  std::string folder_;  // with a slash at its end
  std::string name_;
  bool is_registered_ = false;
};

}  // namespace

int RunConfined(const std::string& file, const char* statements) {
  const Confined confined(file.substr(0, file.rfind('/') + 1));
  if (confined.name() == nullptr) {
    return SQLITE_NOMEM;
  }
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(file.c_str(), &opened,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, confined.name());
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(opened, sqlite3_close);
  if (status != SQLITE_OK) {
    return status;
  }
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0);
  return sqlite3_exec(opened, statements, nullptr, nullptr, nullptr);
}

}  // namespace borescope::internal
