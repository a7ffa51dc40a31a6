// SQLite on a file of a foreigner, opened for writing. A journal can name any file as its
// super-journal, which SQLite opens, and deletes after undoing the transaction.
#pragma once

#include <string>

namespace borescope::internal {

// Runs statements on the database `file`, whose rows are ignored, and has SQLite open and delete
// nothing but files that are directly in its folder; neither triggers nor functions of its schema
// run. Returns SQLite's status: what needs another file ends with SQLITE_CANTOPEN. `file` must have
// no symbolic link in its path.
int RunConfined(const std::string& file, const char* statements);

}  // namespace borescope::internal
