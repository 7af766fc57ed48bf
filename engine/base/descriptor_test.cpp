// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::descriptor_test {

TEST(Descriptor, ClosesOnceAndMoves) {
  Descriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(first);
  const int fd = first.get();
  Descriptor second = std::move(first);
  EXPECT_EQ(second.get(), fd);
  second = Descriptor();
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

TEST(SafeName, WhatLeavesTheFolderIsNotSafe) {
  for (const char* name : {"a", "a/b", "...", "a b", "-", "<script>", "a\nb"}) EXPECT_TRUE(is_safe_name(name)) << name;
  for (const char* name : {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b"})
    EXPECT_FALSE(is_safe_name(name)) << name;
  EXPECT_FALSE(is_safe_name(std::string_view("a\0b", 3)));
}

RC_GTEST_PROP(SafeName, IsSafeWhenEveryComponentIs, ()) {
  const auto components = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>("", ".", "..", "a", "b.c", "...")));
  std::string name;
  bool safe = true;
  for (const auto& component : components) {
    name += (name.empty() && &component == &components.front() ? "" : "/") + component;
    safe = safe && !component.empty() && component != "." && component != "..";
  }
  RC_ASSERT(is_safe_name(name) == safe);
}

TEST(SplitName, AtTheLastSlash) {
  EXPECT_EQ(split_name("a/b/c").parent, "a/b");
  EXPECT_EQ(split_name("a/b/c").base, "c");
  EXPECT_EQ(split_name("c").parent, "");
}

using Open = std::function<OrErrno<Descriptor>(int, const std::string&, int, unsigned)>;

/// The kernel's own walk and ours must agree.
class OpenBeneath : public testing::TestWithParam<std::pair<std::string, Open>> {
 protected:
  void SetUp() override {
    const std::string& path = folder_.path();
    std::filesystem::create_directories(path + "/inside/deep");
    std::filesystem::create_directory(path + "/outside");
    test::write_file(path + "/inside/deep/file", "text");
    test::write_file(path + "/outside/secret", "secret");
    std::filesystem::create_symlink(path + "/outside/secret", path + "/inside/link");
    std::filesystem::create_directory_symlink(path + "/outside", path + "/inside/away");
    std::filesystem::create_symlink(path + "/inside/nowhere", path + "/inside/dangling");
    root_ = Descriptor(::open((path + "/inside").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  [[nodiscard]] int error_of(const std::string& name, int flags) const {
    const auto opened = GetParam().second(root_.get(), name, flags, 0600);
    return opened ? 0 : opened.error();
  }
  test::TempFolder folder_;
  Descriptor root_;
};

TEST_P(OpenBeneath, OpensWhatIsThere) {
  const auto file = GetParam().second(root_.get(), "deep/file", O_RDONLY, 0);
  ASSERT_TRUE(file);
  EXPECT_EQ(read_text(file->get(), 100).value(), "text");
  EXPECT_NE(fcntl(file->get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(error_of("deep", O_PATH | O_DIRECTORY), 0);
}

TEST_P(OpenBeneath, CreatesWithTheModeAskedFor) {
  ASSERT_EQ(error_of("deep/new", O_WRONLY | O_CREAT | O_EXCL), 0);
  struct stat status{};
  ASSERT_EQ(stat((folder_.path() + "/inside/deep/new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(error_of("deep/new", O_WRONLY | O_CREAT | O_EXCL), EEXIST);
}

TEST_P(OpenBeneath, FollowsNoLink) {
  EXPECT_EQ(error_of("link", O_RDONLY), ELOOP);
  EXPECT_EQ(error_of("link", O_WRONLY | O_CREAT), ELOOP);
  EXPECT_EQ(error_of("dangling", O_WRONLY | O_CREAT), ELOOP);
  EXPECT_EQ(error_of("away/secret", O_RDONLY), ELOOP);
  EXPECT_EQ(error_of("away", O_RDONLY | O_DIRECTORY), ELOOP);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/inside/nowhere"));
}

TEST_P(OpenBeneath, StaysInside) {
  EXPECT_EQ(error_of("../outside/secret", O_RDONLY), EINVAL);
  EXPECT_EQ(error_of(folder_.path() + "/outside/secret", O_RDONLY), EINVAL);
  EXPECT_EQ(error_of("missing/file", O_RDONLY), ENOENT);
  EXPECT_EQ(error_of("deep/file/more", O_RDONLY), ENOTDIR);
}

INSTANTIATE_TEST_SUITE_P(BothWays, OpenBeneath,
                         testing::Values(std::pair<std::string, Open>("kernel", open_beneath),
                                         std::pair<std::string, Open>("component", open_by_component)),
                         [](const auto& way) { return way.param.first; });

TEST(ReadText, RefusesMoreThanAsked) {
  const test::TempFolder folder;
  test::write_file(folder.path() + "/f", std::string(5000, 'x'));
  const Descriptor file(::open((folder.path() + "/f").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(read_text(file.get(), 4999).error(), EFBIG);
}

}  // namespace ullage::descriptor_test
