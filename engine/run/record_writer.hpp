// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"
#include "storage/run_folder.hpp"

namespace ullage {

/// Appends NDJSON, one write(2) a line, so that a reader (or another rank in an emergency) never sees half of two lines
/// mixed.
class RecordWriter final {
 public:
  [[nodiscard]] static Result<RecordWriter> open(const std::string& path);
  /// Nothing is written after the first failure, which is kept in status(): what comes after a gap would look whole.
  void write(const nlohmann::json& record);
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  RecordWriter(Descriptor file, std::string path);
  Descriptor file_;
  std::string path_;
  Status status_;
};

}  // namespace ullage
