// SPDX-License-Identifier: Apache-2.0
// Memory and threads that the system does not give, as errors: where buffers and threads are made, the standard library
// throws, and a rank that an exception ends leaves all others waiting.
#pragma once

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/count.hpp"
#include "base/result.hpp"

namespace ullage {

/// An error that is known already, where a call has no other way to tell it.
class ResourceError final : public std::bad_alloc {
 public:
  explicit ResourceError(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// Returns what `work` returns, a Status or a Result; what it could not get of memory or threads is an error of that
/// kind, and any other exception one with its text.
template <class Work>
[[nodiscard]] std::invoke_result_t<Work&> catch_resource_errors(Work&& work) {
  try {
    return work();
  } catch (const ResourceError& known) {
    return fail(known.error());
  } catch (const std::bad_alloc&) {
    return fail(errno_error(ENOMEM, "get", "memory"));
  } catch (const std::length_error&) {
    return fail(errno_error(ENOMEM, "get", "memory"));
  } catch (const std::system_error& refused) {
    return fail(errno_error(refused.code().value(), "start", "threads"));
  } catch (const std::exception& unforeseen) {
    Error error;
    error.operation = "run";
    error.text = unforeseen.what();
    return fail(std::move(error));
  }
}

/// Bytes of memory that this process may still take: what the machine has left, and what its control groups do. Nothing
/// where it is not known. `root` is where /proc and /sys are looked for.
[[nodiscard]] std::optional<std::uint64_t> memory_left_bytes(const std::string& root = "");

/// Returns whether there are `bytes` of memory to fill. The system promises more than there is, and ends a process that
/// takes it at its word. Small amounts are not looked after: finding out costs more.
[[nodiscard]] bool is_memory_available(std::uint64_t bytes);

/// An error at `where` when this node's processes ask for more than `room`, a hundredth of which is left alone: too
/// much is refused with a line instead of ended by the kernel.
[[nodiscard]] Status check_room(const std::string& where, Count needed_bytes,
                                std::optional<std::uint64_t> room = memory_left_bytes());

}  // namespace ullage
