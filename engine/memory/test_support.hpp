// SPDX-License-Identifier: Apache-2.0
// What the tests of memory/ share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "memory/stream/job.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::test {

inline void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// Starts on a line, as the loops need it.
class Lines final {
 public:
  explicit Lines(std::size_t bytes) : lines_(bytes / stream_line) {}
  [[nodiscard]] std::byte* data() { return lines_.front().bytes.data(); }
  [[nodiscard]] std::span<double> elements() {
    return {reinterpret_cast<double*>(data()), lines_.size() * stream_line / sizeof(double)};
  }

 private:
  struct alignas(stream_line) Line {
    std::array<std::byte, stream_line> bytes{};
  };
  std::vector<Line> lines_;
};

class MpiMemoryWorkload : public MpiLaunch {
 protected:
  [[nodiscard]] PhaseStatus run(const std::string& name, const Values& given) {
    return Launch::run(name, brief(given));
  }
  /// Over all ranks.
  [[nodiscard]] double sum(const std::string& name) const { return gauge(name, "sum"); }
};

}  // namespace ullage::test
