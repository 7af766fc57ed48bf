// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/std.hpp"
#include "storage/backends/fault_calls.hpp"
#include "storage/fault_injector.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

inline constexpr std::size_t whole_word = 8;

/// A short call moves what it is told to and is an error: that is what such a file makes of one.
class FaultViewedFile final : public ViewedFile {
 public:
  FaultViewedFile(std::unique_ptr<ViewedFile> inner, FaultInjector& injector, std::string name)
      : inner_(std::move(inner)), injector_(injector), name_(std::move(name)) {}

  [[nodiscard]] Status set_view(const FileView& view, const Map& hints) override {
    return inner_->set_view(view, hints);
  }
  [[nodiscard]] Status set_hints(const Map& hints) override { return inner_->set_hints(hints); }

  [[nodiscard]] Status move(Direction direction, Pointer pointer, std::span<std::byte> data) override {
    const bool chosen = injector_.next_is_chosen(faults::operation_of(direction));
    if (failure_) return take_part(direction, pointer, {});
    if (!chosen || !injector_.mine()) return inner_->move(direction, pointer, data);
    return go_wrong(direction, pointer, data);
  }

  /// The others wait in it for this rank, whatever befell it.
  [[nodiscard]] Status sync() override {
    if (auto status = faults::inject_fault(injector_, FaultOperation::sync, name_); !status && !failure_)
      failure_ = status.error();
    const Status synced = inner_->sync();
    return failure_ ? fail(*failure_) : synced;
  }

  [[nodiscard]] Status close() override { return faults::close(injector_, *inner_, name_); }

  [[nodiscard]] Map hints_granted() const override { return inner_->hints_granted(); }

 private:
  [[nodiscard]] Status take_part(Direction direction, Pointer pointer, std::span<std::byte> data) {
    if (pointer != Pointer::individual || !data.empty()) (void)inner_->move(direction, pointer, data);
    return fail(*failure_);
  }

  [[nodiscard]] Status go_wrong(Direction direction, Pointer pointer, std::span<std::byte> data) {
    const FaultParameters& parameters = injector_.parameters();
    return faults::go_wrong(
        parameters, [&] { return inner_->move(direction, pointer, data); },
        [&] { return move_flipped(direction, pointer, data); },
        [&](int errno_value) {
          const std::size_t moved = parameters.kind == FaultKind::short_count ? parameters.short_bytes : 0;
          failure_ = faults::injected(errno_value, parameters.operation, name_);
          return take_part(direction, pointer, data.first(std::min(moved / whole_word * whole_word, data.size())));
        });
  }

  /// The caller's payload stays as it is.
  [[nodiscard]] Status move_flipped(Direction direction, Pointer pointer, std::span<std::byte> data) {
    if (direction == Direction::write) {
      std::vector<std::byte> copy(data.begin(), data.end());
      faults::flip(injector_, copy);
      return inner_->move(direction, pointer, copy);
    }
    Status status = inner_->move(direction, pointer, data);
    if (status) faults::flip(injector_, data);
    return status;
  }

  std::unique_ptr<ViewedFile> inner_;
  FaultInjector& injector_;
  std::string name_;
  std::optional<Error> failure_;
};

}  // namespace ullage
