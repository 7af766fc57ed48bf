// SPDX-License-Identifier: Apache-2.0
// A tree with everything that a walk can trip over, and what GNU find finds in it. Included by tests only.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <stdexcept>

#include "storage/test_support.hpp"

namespace ullage::test {

/// Output of a program, by its argument list, in the C locale; nothing when it cannot be started or fails.
inline std::optional<std::string> output_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  Descriptor reading(ends[0]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::string locale = "LC_ALL=C";
  std::array<char*, 2> environment{locale.data(), nullptr};
  pid_t child = 0;
  const int code = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (code != 0) return std::nullopt;
  auto text = read_text(reading.get(), std::size_t{1} << 30);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0 || !text) return std::nullopt;
  return std::move(*text);
}

/// Returns whether `find` is findutils', so that its answers are what ours must be.
inline bool has_gnu_find() {
  return output_of({"find", "--version"}).value_or("").find("GNU findutils") != std::string::npos;
}

/// Texts that each end with a NUL, sorted.
inline std::vector<std::string> split_sorted(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::ranges::sort(parts);
  return parts;
}

/// Paths beneath `root` that GNU find finds with `tests`; of the root itself: empty.
inline std::vector<std::string> gnu_find(const std::string& root, const std::vector<std::string>& tests) {
  std::vector<std::string> words{"find", "-P", root};
  words.insert(words.end(), tests.begin(), tests.end());
  words.insert(words.end(), {"-printf", "%P\\0"});
  const auto output = output_of(words);
  EXPECT_TRUE(output.has_value()) << "find failed";
  return split_sorted(output.value_or(""));
}

/// The tree is `path()`; beside it lies `stamp()`, a file to be newer than.
class OddTree final {
 public:
  OddTree() {
    if (mkdir(path().c_str(), 0700) != 0) throw std::runtime_error("mkdir " + path());
    write_file(stamp(), "");
    set_time(stamp(), 0);
    root_ = Descriptor(::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    odd_names();
    sizes_and_times();
    links();
    empty_and_deep();
    for (int i = 0; i < 3000; ++i) file("many/file.mdtest.0." + std::to_string(i), i % 3 == 0 ? 3901 : i, i % 2);
  }
  [[nodiscard]] std::string path() const { return folder_.path() + "/root01"; }
  [[nodiscard]] std::string stamp() const { return folder_.path() + "/stamp"; }

 private:
  /// `later_ns` than the stamp.
  void set_time(const std::string& name, long later_ns) {
    constexpr time_t then = 1'700'000'000;
    constexpr long middle_ns = 500'000'000;
    const std::array<timespec, 2> times{timespec{then, 0}, timespec{then, middle_ns + later_ns}};
    if (utimensat(AT_FDCWD, name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0)
      throw std::runtime_error("utimensat " + name);
  }
  void file(const std::string& name, off_t bytes, long later_ns) {
    const std::string full = path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    const Descriptor made(::open(full.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!made || ftruncate(made.get(), bytes) != 0) throw std::runtime_error("create " + full);
    set_time(full, later_ns);
  }
  void link(const std::string& to, const std::string& name) {
    if (symlink(to.c_str(), (path() + "/" + name).c_str()) != 0) throw std::runtime_error("symlink " + name);
  }

  void odd_names() {
    for (const std::string& name :
         std::vector<std::string>{"new\nline01", "\n", " ", "-name", "-", "*01*", "[x]", "back\\slash", "'\"$(x)`",
                                  "\x01\x7f", "tab\t", ".hidden01", "..two", "...",
                                  "\xc3\xa4\xe2\x82\xac"
                                  "01",
                                  "\xff\xfe"
                                  "01",
                                  "\xc3", std::string(255, 'x'), std::string(253, '\xff') + "01"})
      file("odd/" + name, 3901, 1);
    file("odd\n\xff/" + std::string(200, 'd') + "/x01", 3901, 1);
  }
  void sizes_and_times() {
    for (const off_t bytes : {0, 1, 2, 3, 511, 512, 513, 1023, 1024, 1025, 3900, 3901, 3902, 1 << 20, (1 << 20) + 1})
      for (const long later_ns : {-1L, 0L, 1L})
        file("sizes/s01." + std::to_string(bytes) + "." + std::to_string(later_ns + 1), bytes, later_ns);
    file("sizes/sparse01", off_t{10} << 30, 1);
  }
  void links() {
    file("a/one01", 3901, 1);
    std::filesystem::create_directories(path() + "/b/sub");
    std::filesystem::create_hard_link(path() + "/a/one01", path() + "/b/two01");
    std::filesystem::create_hard_link(path() + "/a/one01", path() + "/a/three");
    link("one01", "a/to-file01");
    link("../b", "a/to-directory01");
    link("nowhere", "a/dangling01");
    link("loop01", "a/loop01");
    link("..", "b/sub/up01");
    link(std::string(3901, 'y'), "a/long01");
    if (mkfifo((path() + "/a/fifo01").c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    if (mknod((path() + "/a/socket01").c_str(), S_IFSOCK | 0600, 0) != 0) throw std::runtime_error("mknod");
  }
  void empty_and_deep() {
    for (const char* name : {"empty01", "e/e/e", "a01/b01/c01"})
      std::filesystem::create_directories(path() + "/" + name);
    nest("d01", 200);
    nest(std::string(250, 'n') + "01", 40);
  }
  /// Directories one in the other, deeper than a path can say.
  void nest(const std::string& name, int levels) {
    Descriptor at(dup(root_.get()));
    for (int level = 0; level < levels; ++level) {
      if (mkdirat(at.get(), name.c_str(), 0700) != 0) throw std::runtime_error("mkdirat " + name);
      at = Descriptor(openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      const Descriptor bottom(openat(at.get(), "file01", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
  }

  TempFolder folder_;
  Descriptor root_;
};

}  // namespace ullage::test
