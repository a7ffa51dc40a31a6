// The file of a database as SQLite would see it. Beside a database may be a journal, with which
// SQLite undoes the transaction of a program that was killed, or a log of rows that are not in the
// file yet; and a program may be writing it. The file alone then has too few rows, or some of no
// transaction.
#pragma once

#include <optional>
#include <string>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/result.h"

namespace borescope::internal {

struct SettledDatabase {
  std::string path;  // of a file that alone holds all committed rows, and no others
  // Where `path` is, if SQLite had to take rows from a log or to undo a transaction: a private
  // copy.
  std::optional<TemporaryFolder> copy = {};
};

// The database at `path`, through symbolic links and under all names in its folder that lead to it.
// Neither it nor what is beside it is changed. kIo where it does not exist, another program is
// writing it, the system cannot tell, or there is no space for a copy.
Result<SettledDatabase> SettleDatabase(const std::string& path);

// Whether committed rows may be elsewhere than in the file at `path`, so that its content is not
// all of the database: beside a name in its folder, or beside one in a folder that nobody knows.
// False of files that are no databases. kIo if the system cannot tell.
Result<bool> MayHaveRowsBeside(const std::string& path);

}  // namespace borescope::internal
