# SPDX-License-Identifier: Apache-2.0
# The shared library libekman, made of the folders' libraries, and what `cmake --install` puts where:
# the library, headers under include/ekman, a CMake package, a pkg-config file and the command.
include(CMakePackageConfigHelpers)

set(rooms ek_pipelines ek_graphs ek_stages ek_core)
list(JOIN rooms "," rooms_list)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/ekman.c
  "/* All code of libekman is in the folders' libraries. */\ntypedef int ek_library;\n")
add_library(ekman SHARED ${CMAKE_CURRENT_BINARY_DIR}/ekman.c)
add_library(ekman::ekman ALIAS ekman)
# Whole, or the linker would leave out what nothing here refers to.
set_target_properties(ekman PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${rooms_list}")
foreach(room ${rooms})
  target_link_libraries(ekman PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${room}>)
endforeach()
target_include_directories(ekman INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/pipelines>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ekman>)

install(TARGETS ekman EXPORT ekman LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ekman-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# What <ekman.h> brings in, and what a stage of one's own needs. Headers that only the library's
# sources share stay out.
set(headers
  core/alloc.h core/backend.h core/chunk.h core/common.h core/crew.h core/field.h core/log.h core/loop.h
  core/memory.h core/nearest.h core/options.h core/stage.h core/status.h core/trace.h core/version.h
  stages/anomaly.h stages/combine.h stages/load.h stages/reduce.h stages/stages.h stages/svd.h
  stages/transfer.h stages/versions.h stages/write.h
  graphs/nodes.h graphs/pipeline.h graphs/plan.h graphs/run.h graphs/state.h graphs/text.h
  pipelines/eof.h pipelines/stats.h)
foreach(header ${headers})
  cmake_path(GET header PARENT_PATH room)
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ekman/${room})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/graphs/plan.schema.json
  ${PROJECT_SOURCE_DIR}/graphs/report.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/ekman)
install(FILES ${PROJECT_SOURCE_DIR}/pipelines/ekman.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ekman)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ekman)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ekmanConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/ekmanConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ekmanConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT ekman NAMESPACE ekman:: FILE ekmanTargets.cmake DESTINATION ${package_dir})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ekmanConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/ekmanConfigVersion.cmake DESTINATION ${package_dir})

# The way from the .pc file's folder up to the prefix, so that an installed tree can be moved.
file(RELATIVE_PATH pc_to_prefix
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/ekman.pc.in ${CMAKE_CURRENT_BINARY_DIR}/ekman.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ekman.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
