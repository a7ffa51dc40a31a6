// Whatever the bytes are: a .et ends in an Error or can be checked, shown and drawn; a linked trace
// ends in an Error or can be planned and written, and what is written can be read; a host trace
// ends in an Error or can be written. An input is for one of the three.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/base/check.h"
#include "borescope/packs/chakra/convert/et_plan.h"
#include "borescope/packs/chakra/et/et_check.h"
#include "borescope/packs/chakra/et/et_text.h"
#include "borescope/packs/chakra/link/host_trace.h"
#include "borescope/packs/chakra/link/link_writer.h"
#include "input_number.h"

namespace {

using borescope::internal::Result;

void TryEt(std::string_view bytes) {
  const Result<borescope::internal::EtFile> et = borescope::internal::ReadEt(bytes);
  if (!et.ok()) {
    return;
  }
  std::vector<borescope::internal::CheckRow> rows;
  borescope::internal::CheckEt("fuzz", *et, rows);
  borescope::internal::StringSink sink;
  static_cast<void>(borescope::internal::WriteEtJson(bytes, sink));
  static_cast<void>(borescope::internal::WriteEtJsonAsReference(bytes, sink));
  static_cast<void>(borescope::internal::WriteEtDot(bytes, sink));
  static_cast<void>(borescope::internal::WriteEtGraphml(bytes, true, sink));
}

void TryPlan(const borescope::internal::LinkedTrace& linked,
             const Result<borescope::internal::EtPlan>& plan) {
  if (!plan.ok()) {
    return;
  }
  borescope::internal::StringSink sink;
  BS_CHECK(borescope::internal::WriteEt(linked, *plan, sink).ok());
  BS_CHECK(borescope::internal::ReadEt(sink.text()).ok());
}

void TryHost(const std::string& bytes) {
  const Result<borescope::internal::chakra::HostTrace> host =
      borescope::internal::chakra::ReadHostTrace(bytes);
  if (!host.ok()) {
    return;
  }
  borescope::internal::chakra::LinkPlan plan;
  plan.hosts.resize(host->nodes.size());
  borescope::internal::StringSink sink;
  static_cast<void>(borescope::internal::chakra::WriteLinked(
      *host, plan, borescope::internal::JsonForm::kIndented, sink));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  // Files of either kind are refused by the first bytes that the readers of the other look at.
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos ||
      bytes[bytes.find_first_not_of(" \t\r\n")] != '{') {
    TryEt(bytes);
    return 0;
  }
  if (fuzz::NumberOf(bytes) % 2 == 0) {
    TryHost(bytes);
    return 0;
  }
  const Result<borescope::internal::LinkedTrace> linked =
      borescope::internal::ParseLinkedTrace(bytes, "fuzz");
  if (linked.ok()) {
    TryPlan(*linked, borescope::internal::PlanEt(*linked));
    TryPlan(*linked, borescope::internal::PlanEtAsReference(*linked));
  }
  return 0;
}
