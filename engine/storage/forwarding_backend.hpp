// SPDX-License-Identifier: Apache-2.0
// A backend that hands every call on to another one. What wraps a backend derives from it and overrides what it
// changes; it can do what the inner one can.
#pragma once

#include "base/std.hpp"
#include "storage/backend.hpp"

namespace ullage {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] Capabilities capabilities() const override { return inner_->capabilities(); }
  [[nodiscard]] Status ready_open(const OpenRequest& request, std::span<const ArraySpec> arrays) override {
    return inner_->ready_open(request, arrays);
  }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    return inner_->open(request);
  }
  [[nodiscard]] Map hints_given() const override { return inner_->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return inner_->hints_granted(); }

  [[nodiscard]] Status make_ready(std::span<std::byte> memory, const Concurrency& wanted) override {
    return inner_->make_ready(memory, wanted);
  }
  [[nodiscard]] Status make_directory(const std::string& name) override { return inner_->make_directory(name); }
  [[nodiscard]] Status remove_file(const std::string& name) override { return inner_->remove_file(name); }
  [[nodiscard]] Status remove_directory(const std::string& name) override { return inner_->remove_directory(name); }
  [[nodiscard]] Result<FileExtents> inspect(const std::string& name) override { return inner_->inspect(name); }
  [[nodiscard]] Result<std::unique_ptr<ViewedFile>> open_viewed(const OpenRequest& request, const Map& hints) override {
    return inner_->open_viewed(request, hints);
  }
  [[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_arrays(const OpenRequest& request,
                                                               std::span<const ArraySpec> arrays) override {
    return inner_->open_arrays(request, arrays);
  }
  [[nodiscard]] Result<std::unique_ptr<MetadataApi>> make_metadata() override { return inner_->make_metadata(); }
  [[nodiscard]] Status drop_cached(const std::string& name) override { return inner_->drop_cached(name); }

 protected:
  [[nodiscard]] Backend& inner() { return *inner_; }

 private:
  std::unique_ptr<Backend> inner_;
};

}  // namespace ullage
