// Whatever the bytes are: a partial, in its envelope or without it, ends in an Error, or it is
// written again to the same bytes, and can be joined and reduced to an Error or an answer that
// every writer takes.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/engine/partial/run_partials.h"
#include "borescope/engine/partial/wire/envelope.h"
#include "borescope/engine/partial/wire/partial_bytes.h"
#include "borescope/output/writer.h"
#include "input_number.h"

namespace {

using borescope::internal::AnswerData;
using borescope::internal::PartialData;
using borescope::internal::Result;

// By one of the writers: which one follows from the bytes.
void TryToWrite(const AnswerData& answer, uint64_t which) {
  constexpr const char* kFormats[] = {"json", "text", "csv"};
  borescope::internal::StringSink sink;
  static_cast<void>(borescope::internal::FindTableWriter(kFormats[which % std::size(kFormats)])
                        ->write(answer.document, {}, sink));
}

void TryToReduce(PartialData partial) {
  const std::string body = borescope::internal::PartialBody(partial);
  const Result<PartialData> again = borescope::internal::ParsePartialBody(body, "again");
  BS_CHECK(again.ok() && borescope::internal::PartialBody(*again) == body);
  std::vector<PartialData> partials;
  partials.push_back(*again);
  partials.push_back(std::move(partial));
  borescope::internal::PartsInMemory source{std::span<const PartialData>(partials)};
  const Result<AnswerData> answer = borescope::internal::ReducePartials(source, {});
  if (answer.ok()) {
    TryToWrite(*answer, fuzz::NumberOf(body));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Result<PartialData> partial = borescope::internal::IsPartial(bytes)
                                    ? borescope::internal::ParsePartial(bytes, "fuzz")
                                    : borescope::internal::ParsePartialBody(bytes, "fuzz");
  if (partial.ok()) {
    TryToReduce(std::move(*partial));
  }
  return 0;
}
