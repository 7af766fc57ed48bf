// SPDX-License-Identifier: Apache-2.0
// Memory and threads that the system does not give, as errors: where buffers and threads are made, the standard library
// throws, and a rank that an exception ends leaves all others waiting.
#pragma once

#include <cerrno>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include "base/cgroup.hpp"
#include "base/count.hpp"
#include "base/procfs.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

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

/// Says where a version of control groups keeps what a group may take, what it has taken, and what of that could be
/// dropped.
struct MemoryFiles {
  const char* limit;
  const char* taken;
  const char* droppable;
};

inline constexpr MemoryFiles version_2{"/memory.max", "/memory.current", "inactive_file"};
inline constexpr MemoryFiles version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};

/// A limit of 2^62 or more is none: version 1 writes the largest multiple of a page below 2^63.
inline constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;

/// Clean file pages are given up before anything is refused.
inline std::optional<std::uint64_t> left_in(const std::string& group, const MemoryFiles& files) {
  const auto limit = number_of(read_word(group + files.limit).value_or(""));
  const auto taken = number_of(read_word(group + files.taken).value_or(""));
  if (!limit || !taken || *limit >= no_limit) return std::nullopt;
  const auto droppable = number_of_key(read_text(group + "/memory.stat").value_or(""), files.droppable).value_or(0);
  const std::uint64_t kept = *taken - std::min(*taken, droppable);
  return *limit - std::min(*limit, kept);
}

/// Bytes of memory that this process may still take: what the machine has left, and what its control groups do. Nothing
/// where it is not known. `root` is where /proc and /sys are looked for.
[[nodiscard]] inline std::optional<std::uint64_t> memory_left_bytes(const std::string& root = "") {
  const auto text = [&root](const char* name) { return read_text(root + name).value_or(""); };
  std::optional<std::uint64_t> least;
  if (const auto kib = number_of_key(text("/proc/meminfo"), "MemAvailable")) least = *kib * 1024;
  const auto mounts = parse_mounts(text("/proc/self/mountinfo"));
  for (const std::string& group : cgroup_directories(text("/proc/self/cgroup"), mounts, "memory"))
    for (const MemoryFiles& files : {version_2, version_1})
      if (const auto left = left_in(root + group, files)) least = std::min(least.value_or(*left), *left);
  return least;
}

/// Returns whether there are `bytes` of memory to fill. The system promises more than there is, and ends a process that
/// takes it at its word. Small amounts are not looked after: finding out costs more.
[[nodiscard]] inline bool is_memory_available(std::uint64_t bytes) {
  constexpr std::uint64_t least_watched_bytes = std::uint64_t{64} << 20;
  return bytes < least_watched_bytes || bytes <= memory_left_bytes().value_or(bytes);
}

/// An error at `where` when this node's processes ask for more than `room`, a hundredth of which is left alone: too
/// much is refused with a line instead of ended by the kernel.
[[nodiscard]] inline Status check_room(const std::string& where, Count needed_bytes,
                                       std::optional<std::uint64_t> room = memory_left_bytes()) {
  if (!room || needed_bytes <= *room - *room / 100) return {};
  return fail(environment_error(where, "needs " + std::to_string(needed_bytes.value() >> 20U) +
                                           " MiB on this node, which has " + std::to_string(*room >> 20U) +
                                           " MiB left; use a smaller size"));
}

}  // namespace ullage
