#include "borescope/scrub/database/column_rules.h"

#include <algorithm>
#include <iterator>

namespace borescope::internal {
namespace {

using enum ColumnUse;

constexpr ColumnRule kNsysRules[] = {
    {"", "nameId", kTextId, TextUse::kCall, "StringIds"},
    {"", "textId", kTextId, TextUse::kCall, "StringIds"},
    {"", "demangledName", kTextId, TextUse::kKernel, "StringIds"},
    {"", "shortName", kTextId, TextUse::kKernel, "StringIds"},
    {"", "symbol", kTextId, TextUse::kFrame, "StringIds"},
    {"", "module", kTextId, TextUse::kModule, "StringIds"},
    {"NVTX_EVENTS", "text", kText, TextUse::kAnnotation},
    {"NVTX_EVENTS", "textId", kTextId, TextUse::kAnnotation, "StringIds"},
    {"ThreadNames", "nameId", kTextId, TextUse::kThread, "StringIds"},
    {"TARGET_INFO_GPU", "name", kText},
    {"META_DATA_EXPORT", "name", kTag},
    {"META_DATA_EXPORT", "value", kText},
};

constexpr ColumnRule kNvprofRules[] = {
    {"", "name", kTextId, TextUse::kKernel, "StringTable"},
    {"CUPTI_ACTIVITY_KIND_MARKER", "name", kTextId, TextUse::kAnnotation, "StringTable"},
    {"CUPTI_ACTIVITY_KIND_MARKER", "domain", kTextId, TextUse::kAnnotation, "StringTable"},
    {"CUPTI_ACTIVITY_KIND_MARKER", "objectId", kObjectId},
    {"CUPTI_ACTIVITY_KIND_DEVICE", "name", kTextId, TextUse::kWord, "StringTable"},
};

constexpr ColumnRule kRpdRules[] = {
    {"", "apiName_id", kTextId, TextUse::kCall, "rocpd_string"},
    {"", "category_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "args_id", kTextId, TextUse::kAnnotation, "rocpd_ustring"},
    {"", "domain_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "description_id", kTextId, TextUse::kKernel, "rocpd_string"},
    {"", "opType_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "kernelName_id", kTextId, TextUse::kKernel, "rocpd_string"},
    {"", "name_id", kTextId, TextUse::kFrame, "rocpd_string"},
    {"", "stream", kText, TextUse::kPlace},
    {"", "dst", kText, TextUse::kPlace},
    {"", "src", kText, TextUse::kPlace},
    {"", "deviceType", kText},
    {"", "monitorType", kText},
    {"rocpd_metadata", "tag", kTag},
    {"rocpd_metadata", "value", kText},
};

constexpr ColumnRule kRocpdRules[] = {
    {"", "name_id", kTextId, TextUse::kCall, "rocpd_string"},
    {"", "category_id", kTextId, TextUse::kWord, "rocpd_string"},
    {"", "extdata", kMessage, TextUse::kAnnotation},
    {"rocpd_info_thread", "name", kText, TextUse::kThread},
    {"rocpd_info_agent", "type", kText},
    {"rocpd_info_agent", "name", kText},
    {"rocpd_info_agent", "product_name", kText},
    {"rocpd_info_kernel_symbol", "display_name", kText, TextUse::kKernel},
    {"rocpd_info_kernel_symbol", "kernel_name", kText, TextUse::kKernel},
    {"rocpd_arg", "name", kText},
    {"rocpd_arg", "value", kText, TextUse::kValue},
    {"rocpd_info_pmc", "name", kText},
    {"rocpd_info_pmc", "symbol", kText},
    {"rocpd_memory_copy", "src_address", kText, TextUse::kPlace},
    {"rocpd_memory_copy", "dst_address", kText, TextUse::kPlace},
    {"rocpd_memory_allocate", "type", kText},
    {"rocpd_memory_allocate", "level", kText},
    {"rocpd_metadata", "tag", kTag},
    {"rocpd_metadata", "value", kText},
};

constexpr TextTableRule kTextTables[] = {
    {"StringIds", "id", "value"},
    {"StringTable", "_id_", "value"},
    {"rocpd_string", "id", "string"},
    {"rocpd_ustring", "id", "string"},
};

std::span<const ColumnRule> RulesOf(TraceFormat format) {
  switch (format) {
    case TraceFormat::kNsys:
      return kNsysRules;
    case TraceFormat::kNvprof:
      return kNvprofRules;
    case TraceFormat::kRpd:
      return kRpdRules;
    case TraceFormat::kRocpd:
      return kRocpdRules;
    default:
      return {};
  }
}

}  // namespace

ColumnRule RuleOf(TraceFormat format, std::string_view table, std::string_view column) {
  const std::span<const ColumnRule> rules = RulesOf(format);
  const auto find = [&](std::string_view of) {
    return std::find_if(rules.begin(), rules.end(), [&](const ColumnRule& rule) {
      return rule.table == of && rule.column == column;
    });
  };
  auto found = find(table);
  found = found == rules.end() ? find("") : found;
  return found == rules.end() ? ColumnRule{table, column} : *found;
}

TextTableRule TextTableOf(TraceFormat format, std::string_view table) {
  if (RulesOf(format).empty()) {
    return {};
  }
  const auto* found = std::find_if(std::begin(kTextTables), std::end(kTextTables),
                                   [&](const TextTableRule& rule) { return rule.table == table; });
  return found == std::end(kTextTables) ? TextTableRule{} : *found;
}

bool IsKeptTag(std::string_view tag) {
  constexpr std::string_view kTags[] = {"schema_version",         "compression",
                                        "EXPORT_PRODUCT_VERSION", "NSIGHT_SYSTEMS_VERSION",
                                        "EXPORT_SCHEMA_VERSION",  "copy_ends"};
  return std::find(std::begin(kTags), std::end(kTags), tag) != std::end(kTags);
}

std::span<const std::string_view> CountedTables() {
  static constexpr std::string_view kTables[] = {"GPU_METRICS",
                                                 "GENERIC_EVENTS",
                                                 "DIAGNOSTIC_EVENT",
                                                 "PROFILER_OVERHEAD",
                                                 "NET_NIC_METRIC",
                                                 "NET_IB_SWITCH_METRIC",
                                                 "PERF_EVENT_SOC",
                                                 "OVERHEAD_EVENTS",
                                                 "CUPTI_ACTIVITY_KIND_OVERHEAD",
                                                 "GPU_CONTEXT_SWITCH",
                                                 "CUPTI_ACTIVITY_KIND_MEMORY"};
  return kTables;
}

}  // namespace borescope::internal
