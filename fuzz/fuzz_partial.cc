// Whatever the bytes are: a partial, in its envelope or without it, ends in an Error, or it is
// written again to the same bytes, and can be joined and reduced to an Error or an answer that
// every writer takes.

#include <cstddef>
#include <cstdint>
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

namespace {

using borescope::internal::Answer;
using borescope::internal::PartialData;
using borescope::internal::Result;

void TryToWrite(const Answer& answer) {
  for (const char* format : {"json", "text", "csv"}) {
    borescope::internal::StringSink sink;
    static_cast<void>(
        borescope::internal::FindTableWriter(format)->write(answer.document, {}, sink));
  }
}

void TryToReduce(PartialData partial) {
  const std::string body = borescope::internal::PartialBody(partial);
  const Result<PartialData> again = borescope::internal::ParsePartialBody(body, "again");
  BS_CHECK(again.ok() && borescope::internal::PartialBody(*again) == body);
  std::vector<PartialData> partials;
  partials.push_back(*again);
  partials.push_back(std::move(partial));
  borescope::internal::PartsInMemory source{std::span<const PartialData>(partials)};
  const Result<Answer> answer = borescope::internal::ReducePartials(source, {});
  if (answer.ok()) {
    TryToWrite(*answer);
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
