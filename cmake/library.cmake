include(install_library)

# borescope_library(): the library, from the objects of all modules.
#
#   borescope::borescope  what others link: the shared library, or the static one with
#                         BORESCOPE_SHARED off. Only what include/ declares is visible in it
#   borescope::inside     the static library for our own programs, who see everything
#   borescope::internals  what tests link, who see everything, too: in a build with tests one shared
#                         library, which spares linking all of it into each program
#
# In a build with tests nothing is hidden, as the tests are of the inside. What others link comes from
# a build without tests.
if(BORESCOPE_TESTS)
  set(borescope_visibility default)
  # Symbols of ours are ours: calls inside the library need no look-up at run time.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,-Bsymbolic-functions>)
else()
  set(borescope_visibility hidden)
endif()
set(CMAKE_CXX_VISIBILITY_PRESET ${borescope_visibility})
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

function(borescope_library)
  get_property(modules GLOBAL PROPERTY BORESCOPE_MODULES)
  get_property(libs GLOBAL PROPERTY BORESCOPE_MODULE_LIBS)
  list(REMOVE_DUPLICATES libs)
  set(objects "")
  foreach(module IN LISTS modules)
    list(APPEND objects $<TARGET_OBJECTS:${module}>)
  endforeach()

  add_library(borescope_shared SHARED ${objects})
  set_target_properties(
    borescope_shared PROPERTIES OUTPUT_NAME borescope LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                SOVERSION ${BORESCOPE_SOVERSION})
  add_library(borescope_static STATIC ${objects})
  set_target_properties(borescope_static PROPERTIES OUTPUT_NAME borescope LINKER_LANGUAGE CXX)
  target_link_libraries(borescope_static PUBLIC ${libs})
  target_include_directories(borescope_static PUBLIC "${PROJECT_SOURCE_DIR}/src"
                                                     "${PROJECT_SOURCE_DIR}/include")
  add_library(borescope::inside ALIAS borescope_static)
  if(BORESCOPE_TESTS)
    target_link_libraries(borescope_shared PUBLIC ${libs})
    target_include_directories(borescope_shared PUBLIC "${PROJECT_SOURCE_DIR}/src"
                                                       "${PROJECT_SOURCE_DIR}/include")
    add_library(borescope::internals ALIAS borescope_shared)
  else()
    target_link_libraries(borescope_shared PRIVATE ${libs})
    add_library(borescope::internals ALIAS borescope_static)
    borescope_install_library()
  endif()
endfunction()
