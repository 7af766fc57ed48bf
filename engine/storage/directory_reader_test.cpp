// SPDX-License-Identifier: Apache-2.0
#include "storage/directory_reader.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::directory_reader_test {

Descriptor open_folder(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

TEST(DirectoryReader, EveryNameOnceWithItsKindInAnyNumberOfReads) {
  const test::TempFolder folder;
  std::map<std::string, EntryKind> made;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "f" + std::to_string(i);
    test::write_file(folder.path() + "/" + name, "");
    made[name] = EntryKind::other;
  }
  for (const std::string& name : std::vector<std::string>{"d", "..d", std::string(255, 'x')}) {
    ASSERT_EQ(mkdir((folder.path() + "/" + name).c_str(), 0700), 0);
    made[name] = EntryKind::directory;
  }
  ASSERT_EQ(symlink("d", (folder.path() + "/link").c_str()), 0);
  made["link"] = EntryKind::other;

  for (const std::size_t room : {std::size_t{300}, std::size_t{4096}, std::size_t{1} << 20}) {
    const Descriptor directory = open_folder(folder.path());
    DirectoryReader reader(room);
    std::map<std::string, EntryKind> met;
    int reads = 0;
    while (true) {
      const auto more = reader.read(directory.get());
      ASSERT_TRUE(more.has_value()) << more.error();
      if (!*more) break;
      ++reads;
      for (const NamedEntry& entry : reader.entries()) {
        EXPECT_TRUE(met.emplace(entry.name.view(), entry.kind).second) << entry.name.view() << " came twice";
        EXPECT_EQ(entry.name.size(), std::strlen(entry.name.c_str()));
      }
    }
    EXPECT_EQ(met, made);
    EXPECT_EQ(reads == 1, room > 4096U);
  }
}

TEST(DirectoryReader, EmptyDirectoryHasNothing) {
  const test::TempFolder folder;
  const Descriptor directory = open_folder(folder.path());
  DirectoryReader reader(4096);
  const auto more = reader.read(directory.get());
  ASSERT_TRUE(more.has_value());
  EXPECT_FALSE(*more);
  EXPECT_TRUE(reader.entries().empty());
}

TEST(DirectoryReader, FileIsNoDirectory) {
  const test::TempFolder folder;
  test::write_file(folder.path() + "/f", "");
  const Descriptor file(::open((folder.path() + "/f").c_str(), O_RDONLY | O_CLOEXEC));
  DirectoryReader reader(4096);
  const auto more = reader.read(file.get());
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error(), ENOTDIR);
}

TEST(OpenDirectory, PathsLongerThanTheSystemTakesAtOnce) {
  const test::TempFolder folder;
  const Descriptor root = open_folder(folder.path());
  const std::string component(250, 'n');
  std::string path;
  Descriptor parent(dup(root.get()));
  for (int depth = 0; depth < 40; ++depth) {
    ASSERT_EQ(mkdirat(parent.get(), component.c_str(), 0700), 0);
    parent = Descriptor(openat(parent.get(), component.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(parent);
    path += (path.empty() ? "" : "/") + component;
  }
  ASSERT_EQ(mkdirat(parent.get(), "last", 0700), 0);
  const auto opened = open_directory(root.get(), path + "/last", O_RDONLY);
  ASSERT_TRUE(opened.has_value()) << opened.error();
  struct stat deep{};
  struct stat last{};
  ASSERT_EQ(fstat(opened->get(), &deep), 0);
  ASSERT_EQ(fstatat(parent.get(), "last", &last, 0), 0);
  EXPECT_EQ(deep.st_ino, last.st_ino);
  EXPECT_EQ(open_directory(root.get(), path + "/none", O_RDONLY).error(), ENOENT);
}

TEST(OpenDirectory, FollowsNoLinkAndOpensNothingElse) {
  const test::TempFolder folder;
  const Descriptor root = open_folder(folder.path());
  ASSERT_EQ(mkdir((folder.path() + "/d").c_str(), 0700), 0);
  ASSERT_EQ(symlink("d", (folder.path() + "/link").c_str()), 0);
  test::write_file(folder.path() + "/f", "");
  EXPECT_TRUE(open_directory(root.get(), "d", O_RDONLY).has_value());
  EXPECT_EQ(open_directory(root.get(), "link", O_RDONLY).error(), ELOOP);
  EXPECT_EQ(open_directory(root.get(), "f", O_RDONLY).error(), ENOTDIR);
  EXPECT_EQ(open_directory(root.get(), std::string(10'000, 'x'), O_RDONLY).error(), ENAMETOOLONG);
}

}  // namespace ullage::directory_reader_test
