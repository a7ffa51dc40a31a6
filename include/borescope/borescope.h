// Borescope as a library: where the time of a GPU program goes. See docs/use/library.md.
#pragma once

#include "borescope/answer.h"        // IWYU pragma: export
#include "borescope/arrow.h"         // IWYU pragma: export
#include "borescope/bench_kernel.h"  // IWYU pragma: export
#include "borescope/chakra.h"        // IWYU pragma: export
#include "borescope/check.h"         // IWYU pragma: export
#include "borescope/convert.h"       // IWYU pragma: export
#include "borescope/error.h"         // IWYU pragma: export
#include "borescope/link.h"          // IWYU pragma: export
#include "borescope/output.h"        // IWYU pragma: export
#include "borescope/partial.h"       // IWYU pragma: export
#include "borescope/postmortem.h"    // IWYU pragma: export
#include "borescope/progress.h"      // IWYU pragma: export
#include "borescope/query.h"         // IWYU pragma: export
#include "borescope/record.h"        // IWYU pragma: export
#include "borescope/run.h"           // IWYU pragma: export
#include "borescope/schema.h"        // IWYU pragma: export
#include "borescope/serve.h"         // IWYU pragma: export
#include "borescope/table.h"         // IWYU pragma: export
#include "borescope/text.h"          // IWYU pragma: export
#include "borescope/version.h"       // IWYU pragma: export
