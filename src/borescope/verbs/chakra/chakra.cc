#include "borescope/chakra.h"

#include <utility>

#include "borescope/base/stop.h"
#include "borescope/engine/access.h"
#include "borescope/verbs/chakra/chakra_tasks.h"

namespace borescope {

Result<Answer> ChakraConvert(const ChakraConvertOptions& options) {
  const internal::ChakraConvertOptions inside{.input = options.input,
                                              .host = options.host,
                                              .device = options.device,
                                              .output = options.output,
                                              .as_reference = options.as_reference,
                                              .npus = options.npus,
                                              .passes = options.passes};
  return AnswerWith(
      internal::Stoppable(options.stop, [&] { return internal::RunChakraConvert(inside); }));
}

Result<void> ChakraDump(const std::string& input, bool as_reference, const Output& output) {
  return WriteTo(output, [&](internal::Sink& sink) {
    return internal::RunChakraDump(input, as_reference, sink);
  });
}

Result<void> ChakraDraw(const std::string& input, const std::string& format, bool as_reference,
                        const Output& output) {
  const auto known = internal::DrawFormatOf("." + format);
  if (!known.has_value()) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = "unknown format '" + format + "'",
                 .remedy = "formats are dot, graphml",
                 .parameter = "format"};
  }
  return WriteTo(output, [&](internal::Sink& sink) {
    return internal::RunChakraDraw(input, *known, as_reference, sink);
  });
}

Result<uint64_t> ChakraGenerate(const ChakraGenerateOptions& options) {
  return internal::RunChakraGenerate(
      {options.folder, options.npus, options.runtime_us, options.tensor_bytes, options.comm_bytes});
}

Result<std::vector<Diagnostic>> ChakraTimeline(const ChakraTimelineOptions& options,
                                               const Output& output) {
  std::vector<Diagnostic> rows;
  BS_TRY(WriteTo(output, [&](internal::Sink& sink) -> Result<void> {
    BS_ASSIGN(rows, internal::RunChakraTimeline(
                        {options.input, options.npus, options.frequency_mhz, options.as_reference},
                        sink));
    return {};
  }));
  return rows;
}

Result<std::vector<std::string>> FindEtFiles(std::span<const std::string> inputs) {
  return internal::FindEtFiles(inputs);
}

Result<ChakraVerdict> ChakraCheck(const ChakraCheckOptions& options) {
  const internal::ChakraCheckOptions inside{options.files, options.linked, options.host,
                                            options.device, options.with_order};
  BS_ASSIGN(internal::ChakraVerdict verdict,
            internal::Stoppable(options.stop, [&] { return internal::RunChakraCheck(inside); }));
  return ChakraVerdict{AnswerAccess::Make(std::move(verdict.document)), verdict.passed};
}

}  // namespace borescope
