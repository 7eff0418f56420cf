# SPDX-License-Identifier: Apache-2.0
# Sets EK_HAVE_CUDA. With EK_CUDA=AUTO a missing nvcc means a build with the host backend only.
set(EK_HAVE_CUDA OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
if(NOT EK_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  # Before the language is enabled: its own default names GPUs that new toolkits have dropped.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "75-virtual;80-real;90" CACHE STRING "CUDA architectures")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit 12.0 REQUIRED)
    set(EK_HAVE_CUDA ON)
  elseif(EK_CUDA STREQUAL "ON")
    message(FATAL_ERROR "EK_CUDA=ON, but no nvcc was found. Put it on PATH, or set "
                        "CMAKE_CUDA_COMPILER, or use -DEK_CUDA=OFF.")
  endif()
endif()
