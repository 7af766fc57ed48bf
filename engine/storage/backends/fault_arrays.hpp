// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/std.hpp"
#include "storage/array_file.hpp"
#include "storage/backends/fault_calls.hpp"
#include "storage/fault_injector.hpp"

namespace ullage {

class FaultArrayFile final : public ArrayFile {
 public:
  /// `collective`: the ranks' operations on this file wait for each other.
  FaultArrayFile(std::unique_ptr<ArrayFile> inner, FaultInjector& injector, std::string name,
                 std::span<const ArraySpec> arrays, bool collective)
      : inner_(std::move(inner)),
        injector_(injector),
        name_(std::move(name)),
        collective_(collective),
        arrays_(arrays.begin(), arrays.end()) {}

  [[nodiscard]] Status transfer(Direction direction, std::span<const ArrayRows> operations, Meter& meter) override {
    for (const ArrayRows& rows : operations)
      if (!goes_on_after(direction, rows, meter)) break;
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] Status sync() override { return faults::sync(injector_, *inner_, name_); }

  [[nodiscard]] Status close() override { return faults::close(injector_, *inner_, name_); }

  [[nodiscard]] Map hints_granted() const override { return inner_->hints_granted(); }

 private:
  /// One operation; false: the next ones are not begun.
  [[nodiscard]] bool goes_on_after(Direction direction, const ArrayRows& rows, Meter& meter) {
    const bool chosen = injector_.next_is_chosen(faults::operation_of(direction)) && injector_.mine();
    const std::uint64_t before = meter.operations();
    const Status status = failure_ ? take_part(direction, rows)
                          : chosen ? go_wrong(direction, rows, meter)
                                   : inner_->transfer(direction, {&rows, 1}, meter);
    if (!status && !failure_) failure_ = status.error();
    return failure_ ? collective_ : meter.operations() != before && meter.goes_on();
  }

  /// The others wait for this rank in a collective operation: it moves nothing, which nobody counts.
  [[nodiscard]] Status take_part(Direction direction, const ArrayRows& rows) {
    const ArrayRows nothing{rows.array, rows.first, 0, rows.data};
    if (collective_) (void)faults::move_uncounted(*inner_, direction, nothing);
    return fail(*failure_);
  }

  [[nodiscard]] Status go_wrong(Direction direction, const ArrayRows& rows, Meter& meter) {
    const FaultParameters& parameters = injector_.parameters();
    return faults::go_wrong(
        parameters, [&] { return inner_->transfer(direction, {&rows, 1}, meter); },
        [&] { return move_flipped(direction, rows, meter); },
        [&](int errno_value) {
          failure_ = faults::injected(errno_value, parameters.operation, name_);
          return take_part(direction, rows);
        });
  }

  /// The caller's payload is flipped back.
  [[nodiscard]] Status move_flipped(Direction direction, const ArrayRows& rows, Meter& meter) {
    const std::span<std::byte> moved = memory_to_flip(rows);
    if (direction == Direction::write) faults::flip(injector_, moved);
    Status status = inner_->transfer(direction, {&rows, 1}, meter);
    if (status || direction == Direction::write) faults::flip(injector_, moved);
    return status;
  }

  /// Everything that is moved or, where the memory has other records than the file, the first field that both have.
  [[nodiscard]] std::span<std::byte> memory_to_flip(const ArrayRows& rows) const {
    const ArraySpec& spec = arrays_[rows.array];
    std::byte* field = rows.data;
    for (const RecordField& held : rows.memory) {
      const auto bytes = static_cast<std::size_t>(bytes_of(held.type));
      if (std::ranges::find(spec.fields, held) != spec.fields.end()) return {field, bytes};
      field += bytes;
    }
    return {rows.data, static_cast<std::size_t>(moved_bytes(spec, rows))};
  }

  std::unique_ptr<ArrayFile> inner_;
  FaultInjector& injector_;
  std::string name_;
  bool collective_;
  std::vector<ArraySpec> arrays_;
  std::optional<Error> failure_;
};

}  // namespace ullage
