# Packages by CPack: `cpack --config BUILD/CPackConfig.cmake` writes a .deb of the component "runtime":
# the program with its pages and completion, and the libraries it needs as dependencies.
set(BORESCOPE_MAINTAINER "Borescope maintainers <borescope@example.org>" CACHE STRING
    "Who answers for packages, as in the field Maintainer of a .deb")
mark_as_advanced(BORESCOPE_MAINTAINER)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME borescope)
set(CPACK_PACKAGE_VENDOR Borescope)
set(CPACK_PACKAGE_CONTACT "${BORESCOPE_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_COMPONENTS_ALL runtime)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME borescope)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "Borescope reads what PyTorch's profiler, Nsight Systems, nvprof, rocprofv3 and
rocmProfileData record, and reports where the time went: kernels and the
operators that launched them, communication, copies and idle time, with every
number accounted for. It needs neither a GPU nor Python.")

# Packages of Debian have compressed pages, a changelog and a list of licences.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian/prepare.cmake")
set(CPACK_BORESCOPE_SOURCES "${PROJECT_SOURCE_DIR}")
borescope_source_date(CPACK_BORESCOPE_DATE)
include(CPack)
