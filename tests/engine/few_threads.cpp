// SPDX-License-Identifier: Apache-2.0
// Puts itself before the system's own call that starts a thread.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <optional>

#include "base/test_support.hpp"

namespace {

thread_local std::optional<std::size_t> threads_left;

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) noexcept {
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left && *threads_left == 0) return EAGAIN;
  if (threads_left) --*threads_left;
  return create(thread, attributes, body, argument);
}

namespace ullage::test {

FewThreads::FewThreads(std::size_t given) { threads_left = given; }
FewThreads::~FewThreads() { threads_left.reset(); }

}  // namespace ullage::test
