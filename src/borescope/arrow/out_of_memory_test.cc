// What a lack of memory does: each allocation of each call fails once. The operators below replace
// those of this whole program.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "borescope/arrow/arrow_testing.h"

namespace {

// How many allocations succeed before one fails; negative: all do.
int allocations_left = -1;

void* Allocate(std::size_t bytes) {
  if (allocations_left == 0) {
    allocations_left = -1;
    throw std::bad_alloc();
  }
  allocations_left -= allocations_left > 0 ? 1 : 0;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace borescope::internal {
namespace {

using testkit::HeldArray;
using testkit::HeldSchema;
using testkit::HeldStream;
using testkit::TableOfAllTypes;

// Fails the first, second, ... allocation of `call` until it needs no more. Returns how many
// failed.
template <class Call>
int FailEachAllocation(HeldStream& stream, const Call& call) {
  for (int failed = 0;; ++failed) {
    allocations_left = failed;
    const int status = call();
    const bool was_reached = allocations_left == -1;
    allocations_left = -1;
    if (!was_reached) {
      EXPECT_EQ(status, 0);
      return failed;
    }
    EXPECT_EQ(status, ENOMEM);
    EXPECT_STREQ(stream.get_last_error(&stream),
                 "not enough memory for the Arrow form of the table");
  }
}

TEST(ArrowOutOfMemory, IsAnErrorAfterWhichTheCallCanBeRepeated) {
  auto table = std::make_shared<const Table>(TableOfAllTypes(20, true));
  HeldStream stream;
  ExportTable(table, &stream);
  HeldSchema schema;
  EXPECT_GT(FailEachAllocation(stream, [&] { return stream.get_schema(&stream, &schema); }), 10);
  testkit::Batch batch;
  EXPECT_GT(FailEachAllocation(stream, [&] { return stream.get_next(&stream, &batch.array); }), 10);
  batch.schema.MoveFrom(schema);
  testkit::ExpectEqual(*table, batch);
  stream.Release();
  batch.array.Release();
  EXPECT_EQ(table.use_count(), 1);  // nothing of the failed calls is left
}

TEST(ArrowOutOfMemory, LeavesTheStreamAsItWas) {
  const auto table = std::make_shared<const Table>(TableOfAllTypes(2, true));
  HeldStream stream;
  allocations_left = 0;
  EXPECT_THROW(ExportTable(table, &stream), std::bad_alloc);
  allocations_left = -1;
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(table.use_count(), 1);
}

}  // namespace
}  // namespace borescope::internal
