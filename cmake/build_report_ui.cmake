# Run by the build: installs the packages of the page, once for each lock file, bundles it and writes
# BUILD/report_template.cc. UI=AUTO and no packages to be had: an empty template, and a word about it.

set(generated "${BUILD}/report_template.cc")

function(write_empty why)
  message(STATUS "Report: plain tables, as ${why}")
  file(WRITE "${generated}" "#include \"borescope/output/html/html.h\"\n
std::string_view borescope::internal::ReportTemplate() { return {}; }\n")
endfunction()

# Sets `problem` to what went wrong, if anything.
function(install_packages)
  file(SHA256 "${WEB}/package-lock.json" lock)
  set(stamp "${BUILD}/installed-${lock}")
  if(EXISTS "${stamp}")
    return()
  endif()
  foreach(file IN ITEMS package.json package-lock.json .npmrc)
    file(COPY "${WEB}/${file}" DESTINATION "${BUILD}")
  endforeach()
  execute_process(
    COMMAND "${NPM}" ci --ignore-scripts --prefer-offline --no-audit --no-fund --fetch-retries=0
            --fetch-timeout=30000
    WORKING_DIRECTORY "${BUILD}"
    TIMEOUT 180
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(REGEX MATCH "npm (error|ERR!) [^\n]*" first "${output}")
    set(problem "npm ci failed (${status}): ${first}" PARENT_SCOPE)
    return()
  endif()
  file(TOUCH "${stamp}")
endfunction()

if(UI STREQUAL "OFF")
  write_empty("BORESCOPE_REPORT_UI is off or node is not found")
  return()
endif()

file(MAKE_DIRECTORY "${BUILD}")
set(problem "")
install_packages()
if(NOT problem)
  execute_process(
    COMMAND "${NODE}" "${WEB}/build.mjs" --packages "${BUILD}/node_modules" --out "${BUILD}"
    TIMEOUT 120
    RESULT_VARIABLE status
    ERROR_VARIABLE output)
  if(status EQUAL 0)
    return()
  endif()
  # The page itself is wrong: no reason to go without it in silence.
  message(FATAL_ERROR "web/build.mjs failed: ${output}")
endif()
if(UI STREQUAL "ON")
  message(FATAL_ERROR "${problem}")
endif()
write_empty("${problem}")
