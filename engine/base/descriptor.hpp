// SPDX-License-Identifier: Apache-2.0
// File descriptors that close themselves, and names opened below one of them without following any symbolic link.
#pragma once

#include <expected>

#include "base/std.hpp"

namespace ullage {

/// A file descriptor that closes itself.
class Descriptor final {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] int release() noexcept;

 private:
  int fd_ = -1;
};

/// The value, or an errno.
template <class T>
using OrErrno = std::expected<T, int>;

/// Relative, no empty component, no "." or "..", no NUL: a name that stays where it is looked up.
[[nodiscard]] bool is_safe_name(std::string_view name) noexcept;

/// The part before the last '/' ("" when there is none) and the part behind it.
struct SplitName {
  std::string parent;
  std::string base;
};
[[nodiscard]] SplitName split_name(const std::string& name);

/// open(2) of a safe name below `directory`; ELOOP when any component is a symbolic link, EXDEV when another file
/// system is mounted at one. O_CLOEXEC is added.
[[nodiscard]] OrErrno<Descriptor> open_beneath(int directory, const std::string& name, int flags, unsigned mode = 0);

/// What open_beneath does where the kernel has no openat2(2): one openat(2) a component.
[[nodiscard]] OrErrno<Descriptor> open_by_component(int directory, const std::string& name, int flags,
                                                    unsigned mode = 0);

/// The whole text of a small file; EFBIG above `most_bytes`.
[[nodiscard]] OrErrno<std::string> read_text(int fd, std::size_t most_bytes);
/// Everything or an errno.
[[nodiscard]] OrErrno<void> write_text(int fd, std::string_view text);
/// fsync(2); a file system that cannot sync this kind of file is no error.
[[nodiscard]] OrErrno<void> sync_descriptor(int fd);

}  // namespace ullage
