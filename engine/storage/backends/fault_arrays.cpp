// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/fault_arrays.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "storage/backends/fault_calls.hpp"

namespace ullage {
namespace {

class FaultArrayFile final : public ArrayFile {
 public:
  FaultArrayFile(std::unique_ptr<ArrayFile> inner, FaultInjector& injector, std::string name,
                 std::span<const ArraySpec> arrays, bool collective)
      : inner_(std::move(inner)), injector_(injector), name_(std::move(name)), collective_(collective) {
    for (const ArraySpec& spec : arrays) row_bytes_.push_back(spec.row_bytes());
  }

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
    switch (parameters.kind) {
      case FaultKind::hang:
        faults::hang();
      case FaultKind::delay:
        faults::sleep_for(parameters.delay_s);
        return inner_->transfer(direction, {&rows, 1}, meter);
      case FaultKind::flip:
        return move_flipped(direction, rows, meter);
      case FaultKind::short_count:
        failure_ = faults::injected(EIO, parameters.operation, name_);
        break;
      default:
        failure_ = faults::injected(errno_of(parameters.kind), parameters.operation, name_);
        break;
    }
    return take_part(direction, rows);
  }

  /// The caller's payload stays as it is.
  [[nodiscard]] Status move_flipped(Direction direction, const ArrayRows& rows, Meter& meter) {
    const auto bytes = static_cast<std::size_t>(rows.rows * row_bytes_[rows.array]);
    if (direction == Direction::write) {
      std::vector<std::byte> copy(rows.data, rows.data + bytes);
      faults::flip(injector_, copy);
      const ArrayRows flipped{rows.array, rows.first, rows.rows, copy.data()};
      return inner_->transfer(direction, {&flipped, 1}, meter);
    }
    Status status = inner_->transfer(direction, {&rows, 1}, meter);
    if (status) faults::flip(injector_, {rows.data, bytes});
    return status;
  }

  std::unique_ptr<ArrayFile> inner_;
  FaultInjector& injector_;
  std::string name_;
  bool collective_;
  std::vector<std::uint64_t> row_bytes_;
  std::optional<Error> failure_;
};

}  // namespace

std::unique_ptr<ArrayFile> make_fault_arrays(std::unique_ptr<ArrayFile> inner, FaultInjector& injector,
                                             std::string name, std::span<const ArraySpec> arrays, bool collective) {
  return std::make_unique<FaultArrayFile>(std::move(inner), injector, std::move(name), arrays, collective);
}

}  // namespace ullage
