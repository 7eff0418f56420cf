# SPDX-License-Identifier: Apache-2.0
# ek_flags: what every target is compiled with. ek_folder(): the library of a folder. ek_test(): a
# test program.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(netcdf REQUIRED IMPORTED_TARGET GLOBAL netcdf)
pkg_search_module(hdf5 REQUIRED IMPORTED_TARGET GLOBAL hdf5-serial hdf5)
pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET GLOBAL libdeflate)
pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)
pkg_check_modules(liblz4 REQUIRED IMPORTED_TARGET GLOBAL liblz4)
pkg_check_modules(blosc REQUIRED IMPORTED_TARGET GLOBAL blosc)
pkg_check_modules(libuv REQUIRED IMPORTED_TARGET GLOBAL libuv)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET GLOBAL openblas)
pkg_check_modules(lapacke REQUIRED IMPORTED_TARGET GLOBAL lapacke)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET GLOBAL jansson)

add_library(ek_flags INTERFACE)
target_compile_definitions(ek_flags INTERFACE _GNU_SOURCE
  $<$<BOOL:${EK_HAVE_CUDA}>:EK_HAVE_CUDA>)
target_include_directories(ek_flags INTERFACE ${PROJECT_SOURCE_DIR})
# Products and sums are rounded one by one on both backends: no contraction into fma.
target_compile_options(ek_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wshadow -Wvla -Wconversion -Wno-sign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -ffp-contract=off -fvisibility=hidden>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false -Xcompiler=-Wall,-Wextra,-fvisibility=hidden>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${EK_WERROR}>>:-Werror>)
if(EK_SANITIZE)
  target_compile_options(ek_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-fsanitize=${EK_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all>)
  target_link_options(ek_flags INTERFACE -fsanitize=${EK_SANITIZE})
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# ek_folder(NAME SOURCES ... [CUDA ...] [LINK ...]): static library ek_NAME of one folder. Sources
# under CUDA join only in a build with CUDA. LINK names what may be called: the rooms below.
function(ek_folder name)
  cmake_parse_arguments(arg "" "" "SOURCES;CUDA;LINK" ${ARGN})
  add_library(ek_${name} STATIC ${arg_SOURCES})
  if(EK_HAVE_CUDA)
    target_sources(ek_${name} PRIVATE ${arg_CUDA})
  endif()
  target_link_libraries(ek_${name} PUBLIC ek_flags ${arg_LINK})
endfunction()

# ek_test(PATH [LABELS ...] [LINK ...] [TIMEOUT s]): the cmocka program tests/PATH.c, known to ctest
# by its path. Exit status 77 means skipped.
function(ek_test path)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;LINK" ${ARGN})
  string(REPLACE "/" "_" target "${path}")
  add_executable(${target} ${PROJECT_SOURCE_DIR}/tests/${path}.c)
  target_link_libraries(${target} PRIVATE ek_test_support ${arg_LINK})
  add_test(NAME ${path} COMMAND ${target})
  ek_test_properties(${path} "${arg_LABELS}" "${arg_TIMEOUT}")
endfunction()

# ek_test_properties(NAME LABELS TIMEOUT): what all tests share.
function(ek_test_properties name labels timeout)
  if(NOT labels)
    set(labels unit)
  endif()
  if(NOT timeout)
    set(timeout 120)
  endif()
  # OpenBLAS is not compiled with the thread sanitizer, which then sees races between its threads.
  set(blas_threads 2)
  if(EK_SANITIZE MATCHES "thread")
    set(blas_threads 1)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "ASAN_OPTIONS=handle_segv=2:allocator_may_return_null=1;OPENBLAS_NUM_THREADS=${blas_threads};LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp;TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan.supp")
endfunction()

# ek_shell_test(PATH [LABELS ...] [TIMEOUT s] [ARGS ...]): the script tests/PATH.sh, run with bash.
function(ek_shell_test path)
  cmake_parse_arguments(arg "" "TIMEOUT" "LABELS;ARGS" ${ARGN})
  add_test(NAME ${path} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/${path}.sh ${arg_ARGS})
  ek_test_properties(${path} "${arg_LABELS}" "${arg_TIMEOUT}")
endfunction()
