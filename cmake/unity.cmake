# With BORESCOPE_UNITY, the library's files of a folder are compiled as one, so that what they include is
# parsed once: a build from nothing takes half of the time. For builds that nobody changes files in: those of
# users, benchmarks and sanitizers; the others see whether each file includes what it needs.
#
# Names in anonymous namespaces must then differ within a folder. Two that are equal end the build with
# "redefinition of ...": one of them takes a name that says more. Unit tests are compiled one by one, as
# their cases and helpers are alike.

# Folders whose files are alike on purpose, each with the same names for its own table: compiled one by
# one.
set(BORESCOPE_UNITY_APART packs/hta/views ingest/rocpd ingest/rpd opmodel output/charts)

function(borescope_unity target)
  if(NOT BORESCOPE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    if(NOT folder IN_LIST BORESCOPE_UNITY_APART)
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
endfunction()
