# borescope_install_library(): what programs that use the library need, as the component
# "development". Only of a build without tests, whose library hides what is inside.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(borescope_install_library)
  target_include_directories(borescope_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(borescope_shared INTERFACE cxx_std_20)
  set_target_properties(borescope_shared PROPERTIES EXPORT_NAME borescope)
  set(package "${CMAKE_INSTALL_LIBDIR}/cmake/borescope")
  # A build of the program alone has no library: CMake would name a file that is missing, not what to do.
  install(
    CODE "
if(NOT EXISTS \"$<TARGET_FILE:borescope_shared>\" OR NOT EXISTS \"$<TARGET_FILE:borescope_static>\")
  message(FATAL_ERROR \"The library is not built; first: cmake --build ${PROJECT_BINARY_DIR} --target borescope_shared borescope_static\")
endif()"
    COMPONENT development)
  install(
    TARGETS borescope_shared
    EXPORT borescopeTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  install(FILES $<TARGET_FILE:borescope_static> DESTINATION "${CMAKE_INSTALL_LIBDIR}"
          COMPONENT development)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/borescope"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
  install(
    EXPORT borescopeTargets
    NAMESPACE borescope::
    DESTINATION "${package}"
    COMPONENT development)
  configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/borescopeConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/borescopeConfig.cmake"
    INSTALL_DESTINATION "${package}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/borescopeConfigVersion.cmake"
                                   COMPATIBILITY SameMinorVersion)
  # The package may be installed, or moved, anywhere.
  file(RELATIVE_PATH borescope_up_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/borescope.pc.in" "${PROJECT_BINARY_DIR}/borescope.pc"
                 @ONLY)
  install(
    FILES "${PROJECT_BINARY_DIR}/borescopeConfig.cmake"
          "${PROJECT_BINARY_DIR}/borescopeConfigVersion.cmake"
    DESTINATION "${package}"
    COMPONENT development)
  install(FILES "${PROJECT_BINARY_DIR}/borescope.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endfunction()
