// SPDX-License-Identifier: Apache-2.0
// What tests of several layers share. Included by tests only.
#pragma once

#include <cstddef>

namespace ullage::test {

/// For as long as this lives, the calling thread may start so many threads, and is then refused (EAGAIN).
class FewThreads final {
 public:
  explicit FewThreads(std::size_t given);
  FewThreads(const FewThreads&) = delete;
  FewThreads& operator=(const FewThreads&) = delete;
  ~FewThreads();
};

}  // namespace ullage::test
