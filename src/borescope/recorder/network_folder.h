// Folders that other machines serve: a mapped page there can wait for the network, and may be lost
// when the machine ends.
#pragma once

#include <cstdint>
#include <string>

namespace borescope::internal {

// Of the folder, which exists. False where that cannot be found out.
bool IsOnNetwork(const std::string& folder);

// By the number that statfs gives for the file system.
bool IsNetworkFileSystem(uint64_t type);

}  // namespace borescope::internal
