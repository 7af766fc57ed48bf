// SPDX-License-Identifier: Apache-2.0
// What tests of several folders share. Included by tests only.
#pragma once

#include "base/pinned.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>

/// Is there in a program with a sanitizer.
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace ullage::test {

/// For as long as this lives, the calling thread may start so many threads, and is then refused (EAGAIN).
class FewThreads final : Pinned {
 public:
  explicit FewThreads(std::size_t given);
  ~FewThreads();
};

/// For as long as this lives this process can map no more than a few MiB besides what it has, where `here` says so.
class LittleMemory final : Pinned {
 public:
  /// Where memory is checked for errors, address space is taken by the terabyte. The tests need not be checked then.
  static bool can_be_had() { return __sanitizer_set_death_callback == nullptr; }

  explicit LittleMemory(bool here) {
    getrlimit(RLIMIT_AS, &before_);
    if (!here) return;
    std::ifstream statm("/proc/self/statm");
    rlim_t pages = 0;
    statm >> pages;
    const rlimit little{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + few_bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &little);
  }
  ~LittleMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  static constexpr rlim_t few_bytes = rlim_t{32} << 20;
  rlimit before_{};
};

}  // namespace ullage::test
