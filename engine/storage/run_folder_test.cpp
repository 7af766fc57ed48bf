// SPDX-License-Identifier: Apache-2.0
#include "storage/run_folder.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "storage/test_support.hpp"

namespace ullage::run_folder_test {

namespace fs = std::filesystem;
using namespace test;

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Makes the files of a dataset, as a workload would.
void make_files(const RunFolder& folder, const DatasetEntry& entry) {
  ASSERT_TRUE(folder.list_dataset(entry));
  ASSERT_TRUE(folder.make_directory(entry.directory));
  for (std::uint64_t i = 0; i < entry.files; ++i) {
    ASSERT_TRUE(folder.make_directory(entry.directory_name(i)));
    ASSERT_TRUE(folder.open_file(entry.file_name(i), O_WRONLY | O_CREAT | O_EXCL));
  }
}

class RunFolderTest : public test::OnTarget {};

TEST_F(RunFolderTest, IsPrivateMarkedAndEmpty) {
  const RunFolder folder = made();
  struct stat status{};
  ASSERT_EQ(stat(own().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  EXPECT_EQ(names_in(own()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
  EXPECT_TRUE(mentions(read_file(own() + "/.ullage-run"), "\"run_id\":\"r1\""));
  EXPECT_TRUE(mentions(read_file(own() + "/.ullage-run"), folder.nonce()));
  EXPECT_EQ(folder.path(), fs::canonical(own()));
}

/// Directories inherit the set-group-id bit from the one that they are made in, as they inherit stripes elsewhere.
TEST_F(RunFolderTest, PreparedDatasetsInheritFromTheFolderOfTheirName) {
  const fs::path prepared = fs::path(target_.path()) / "easy";
  fs::create_directory(prepared);
  fs::permissions(prepared, fs::perms::owner_all | fs::perms::set_gid);
  RunFolder folder = made();
  folder.take_layouts_of({"easy"});
  make_files(folder, {"easy", "easy", 1, false, false});
  make_files(folder, {"hard", "hard", 1, false, false});
  EXPECT_EQ(fs::status(own() + "/easy").permissions() & fs::perms::set_gid, fs::perms::set_gid);
  EXPECT_EQ(fs::status(own() + "/hard").permissions() & fs::perms::set_gid, fs::perms::none);
  EXPECT_TRUE(fs::is_empty(prepared));
  ASSERT_TRUE(folder.make_directory("easy")) << "it is there already";
  EXPECT_TRUE(fs::exists(own() + "/easy/data"));
  const auto leftovers = folder.remove_listed();
  ASSERT_TRUE(leftovers) << line_of(leftovers);
  EXPECT_EQ(names_in(target_.path()), std::vector<std::string>{"easy"}) << "the folder itself stays";
}

TEST_F(RunFolderTest, APreparedFolderThatIsNoneIsAnErrorAndNothingIsLeftInIt) {
  const std::string base = target_.path();
  fs::create_directory(base + "/real");
  fs::create_directory_symlink(base + "/real", base + "/linked");
  write_file(base + "/file", "mine");
  RunFolder folder = made();
  folder.take_layouts_of({"linked", "file", "gone", "real"});
  EXPECT_TRUE(mentions(line_of(folder.make_directory("linked")), "symbolic link"));
  EXPECT_TRUE(mentions(line_of(folder.make_directory("file")), "is not a directory"));
  EXPECT_TRUE(mentions(line_of(folder.make_directory("gone")), "does not exist"));
  write_file(own() + "/real", "in the way");
  fs::create_directory(base + "/real/ullage-r1");
  EXPECT_FALSE(folder.make_directory("real")) << "there is a file of that name in the run folder";
  fs::remove(own() + "/real");
  EXPECT_TRUE(folder.make_directory("real")) << "what a killed launch left is used";
  EXPECT_TRUE(fs::is_empty(base + "/real"));
}

TEST_F(RunFolderTest, IsPrivateUnderAnyUmask) {
  const mode_t before = umask(0777);
  const auto folder = RunFolder::make(target_.path(), "r1");
  umask(before);
  EXPECT_TRUE(folder) << line_of(folder);
  EXPECT_TRUE(RunFolder::open(target_.path(), "r1"));
}

TEST_F(RunFolderTest, OpensWhatItMade) {
  const std::string nonce = made().nonce();
  const auto is_the_one = [&](const Result<RunFolder>& again) { return again && again->nonce() == nonce; };
  EXPECT_TRUE(is_the_one(RunFolder::make(target_.path(), "r1")));
  EXPECT_TRUE(is_the_one(RunFolder::open(target_.path(), "r1")));
  EXPECT_TRUE(is_the_one(RunFolder::open_existing(own())));
  EXPECT_TRUE(is_the_one(RunFolder::open_existing(own() + "//")));
  EXPECT_EQ(line_of(RunFolder::open(target_.path(), "r2")),
            fs::canonical(target_.path()).string() + "/ullage-r2: does not exist");
}

TEST_F(RunFolderTest, OneAtATimeMayWorkInIt) {
  auto first = std::make_optional(made());
  for (const auto& second : {RunFolder::make(target_.path(), "r1"), RunFolder::open_existing(own())}) {
    ASSERT_FALSE(second);
    EXPECT_EQ(line_of(second), fs::canonical(own()).string() + ": a run is still at work in it; refused");
  }
  EXPECT_TRUE(RunFolder::open(target_.path(), "r1")) << "the other ranks of the same launch";
  first.reset();
  EXPECT_TRUE(RunFolder::open_existing(own()));
}

TEST_F(RunFolderTest, TargetMayBeReachedThroughLinks) {
  const test::TempFolder elsewhere;
  fs::create_directory_symlink(target_.path(), elsewhere.path() + "/link");
  const auto folder = RunFolder::make(elsewhere.path() + "/link", "r1");
  ASSERT_TRUE(folder) << line_of(folder);
  EXPECT_EQ(folder->path(), fs::canonical(own()));
  EXPECT_TRUE(folder->checked_path("file"));
}

TEST_F(RunFolderTest, AnyCharactersInTheTarget) {
  const std::string odd = target_.path() + "/a b'c\"d<script>\n\\$(x);é";
  fs::create_directory(odd);
  auto folder = RunFolder::make(odd, "r1");
  ASSERT_TRUE(folder) << line_of(folder);
  make_files(*folder, {"ab", "c-ab", 2, true, false});
  EXPECT_EQ(folder->checked_path("c-ab/data.00000001").value(),
            fs::canonical(odd).string() + "/ullage-r1/c-ab/data.00000001");
  EXPECT_EQ(folder->remove_listed()->removed_files, 2U);
  EXPECT_TRUE(names_in(odd).empty());
}

TEST_F(RunFolderTest, BadTargetsAreOneClearLine) {
  const auto line = [](const std::string& path) {
    const auto folder = RunFolder::make(path, "r1");
    EXPECT_FALSE(folder);
    EXPECT_EQ(folder.error().kind, ErrorKind::environment);
    return line_of(folder);
  };
  EXPECT_EQ(line("/nowhere/at/all"), "/nowhere/at/all: does not exist");
  write_file(target_.path() + "/file", "");
  EXPECT_EQ(line(target_.path() + "/file"), target_.path() + "/file: is not a directory");
  EXPECT_EQ(line("/dev/null"), "/dev/null: is not a directory");
  EXPECT_TRUE(mentions(line(""), "is not a path"));
  EXPECT_FALSE(RunFolder::make(target_.path(), "../escape"));
  EXPECT_FALSE(RunFolder::make(target_.path(), "a/b"));
}

TEST_F(RunFolderTest, ReadOnlyTarget) {
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted() || !small.make_read_only()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  EXPECT_EQ(line_of(RunFolder::make(small.path(), "r1")), small.path() + ": is on a read-only file system");
}

TEST_F(RunFolderTest, UnwritableTarget) {
  fs::permissions(target_.path(),
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  const pid_t child = fork();  // root may write everywhere, and would not get that back
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    _exit(line_of(RunFolder::make(target_.path(), "r1")) == target_.path() + ": is not writable for this user" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  fs::permissions(target_.path(), fs::perms::owner_all);
}

TEST_F(RunFolderTest, FullTargetIsLeftAsItWas) {
  const test::SmallFileSystem small("size=1m,nr_inodes=2");  // the root and one more
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  EXPECT_EQ(line_of(RunFolder::make(small.path(), "r1")), small.path() + ": has no space left");
  EXPECT_TRUE(names_in(small.path()).empty());
}

TEST_F(RunFolderTest, ForeignFolderIsRefusedAndUntouched) {
  fs::create_directory(own());
  fs::permissions(own(), fs::perms::owner_all);
  write_file(own() + "/precious", "mine");
  const auto folder = RunFolder::make(target_.path(), "r1");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::environment);
  EXPECT_TRUE(mentions(line_of(folder), "is not a folder of ullage (it has no marker)"));
  EXPECT_FALSE(RunFolder::open_existing(own()));
  EXPECT_EQ(read_file(own() + "/precious"), "mine");
  EXPECT_EQ(names_in(own()).size(), 1U);
}

TEST_F(RunFolderTest, MarkerMustBeOurs) {
  fs::create_directory(own());
  fs::permissions(own(), fs::perms::owner_all);
  for (const char* text : {"", "garbage", R"({"run_id":"r1"})"}) {
    write_file(own() + "/.ullage-run", text);
    EXPECT_TRUE(mentions(line_of(RunFolder::open(target_.path(), "r1")), "its marker cannot be parsed")) << text;
  }
  write_file(own() + "/.ullage-run", marker_text({"r2", "nonce"}));
  EXPECT_TRUE(mentions(line_of(RunFolder::open(target_.path(), "r1")), "marker of run 'r2'"));
  fs::remove(own() + "/.ullage-run");
  write_file(target_.path() + "/real", marker_text({"r1", "nonce"}));
  fs::create_symlink(target_.path() + "/real", own() + "/.ullage-run");
  EXPECT_TRUE(mentions(line_of(RunFolder::open(target_.path(), "r1")), "symbolic link"));
  fs::remove(own() + "/.ullage-run");
  ASSERT_EQ(mkfifo((own() + "/.ullage-run").c_str(), 0600), 0);  // must not hang
  EXPECT_TRUE(mentions(line_of(RunFolder::open(target_.path(), "r1")), "not a regular file"));
}

TEST_F(RunFolderTest, FolderOpenToOthersIsRefused) {
  (void)made();
  for (const auto extra : {fs::perms::group_write, fs::perms::others_write, fs::perms::others_read}) {
    fs::permissions(own(), fs::perms::owner_all | extra);
    EXPECT_TRUE(mentions(line_of(RunFolder::open(target_.path(), "r1")), "mode is not 0700"));
  }
}

TEST_F(RunFolderTest, FolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  (void)made();
  ASSERT_EQ(chown(own().c_str(), 12345, 12345), 0);
  EXPECT_TRUE(mentions(line_of(RunFolder::make(target_.path(), "r1")), "belongs to user 12345"));
}

TEST_F(RunFolderTest, LinkOrFileInItsPlaceIsRefused) {
  const test::TempFolder elsewhere;
  fs::permissions(elsewhere.path(), fs::perms::owner_all);
  write_file(elsewhere.path() + "/.ullage-run", marker_text({"r1", "nonce"}));
  fs::create_directory_symlink(elsewhere.path(), own());
  EXPECT_TRUE(mentions(line_of(RunFolder::make(target_.path(), "r1")), "is a symbolic link"));
  EXPECT_TRUE(mentions(line_of(RunFolder::open_existing(own())), "is a symbolic link"));
  EXPECT_TRUE(mentions(line_of(RunFolder::open_existing(own() + "/")), "is a symbolic link"));
  fs::remove(own());
  write_file(own(), "a file");
  EXPECT_TRUE(mentions(line_of(RunFolder::make(target_.path(), "r1")), "is not a directory"));
  EXPECT_EQ(read_file(own()), "a file");
}

TEST_F(RunFolderTest, OtherNamesAreNoFolderOfOurs) {
  EXPECT_TRUE(mentions(line_of(RunFolder::open_existing(target_.path())), "refused"));
  EXPECT_TRUE(mentions(line_of(RunFolder::open_existing("/")), "refused"));
  EXPECT_TRUE(mentions(line_of(RunFolder::open_existing("")), "refused"));
}

TEST_F(RunFolderTest, PlantedLinksAreNotFollowed) {
  RunFolder folder = made();
  const test::TempFolder victim;
  write_file(victim.path() + "/data", "precious");
  fs::create_directory_symlink(victim.path(), own() + "/c-aa");
  fs::create_symlink(victim.path() + "/data", own() + "/file");
  for (const char* name : {"c-aa/data", "file"}) {
    const auto file = folder.open_file(name, O_WRONLY | O_CREAT | O_TRUNC);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().errno_value, ELOOP);
    EXPECT_TRUE(mentions(line_of(file), "a symbolic link is in the way"));
    EXPECT_FALSE(folder.checked_path(name)) << name;
  }
  EXPECT_FALSE(folder.make_directory("c-aa"));
  EXPECT_FALSE(folder.make_directory("c-aa/more"));
  EXPECT_FALSE(folder.remove_file("c-aa/data"));
  ASSERT_TRUE(folder.list_dataset({"aa", "c-aa", 1, false, false}));
  const auto removed = folder.remove_listed();
  ASSERT_TRUE(removed);
  EXPECT_FALSE(removed->left.empty());
  EXPECT_EQ(read_file(victim.path() + "/data"), "precious");
}

TEST_F(RunFolderTest, WhatALibraryLeavesBesideTheMarkerGoesWithIt) {
  RunFolder folder = made();
  write_file(own() + "/.ullage-run.locktest.0", "");
  const auto removed = folder.remove_listed();
  ASSERT_TRUE(removed);
  EXPECT_TRUE(removed->left.empty());
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(RunFolderTest, NamesStayInside) {
  const RunFolder folder = made();
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", "", "."}) {
    EXPECT_FALSE(folder.open_file(name, O_RDONLY)) << name;
    EXPECT_FALSE(folder.make_directory(name)) << name;
    EXPECT_FALSE(folder.remove_file(name)) << name;
    EXPECT_FALSE(folder.remove_directory(name)) << name;
    EXPECT_FALSE(folder.checked_path(name)) << name;
  }
}

TEST_F(RunFolderTest, CheckedPathKnowsAnExchangedFolder) {
  const RunFolder folder = made();
  EXPECT_EQ(folder.checked_path("new").value(), folder.path() + "/new");
  fs::rename(own(), target_.path() + "/moved");
  fs::create_directory(own());
  EXPECT_FALSE(folder.checked_path("new"));
}

TEST_F(RunFolderTest, MissingIsFineExistingDirectoryIsFine) {
  const RunFolder folder = made();
  EXPECT_TRUE(folder.remove_file("none"));
  EXPECT_TRUE(folder.remove_directory("none"));
  EXPECT_TRUE(folder.make_directory("d"));
  EXPECT_TRUE(folder.make_directory("d"));
  ASSERT_TRUE(folder.open_file("f", O_WRONLY | O_CREAT));
  EXPECT_FALSE(folder.make_directory("f"));
  EXPECT_FALSE(folder.remove_directory("f"));
}

TEST_F(RunFolderTest, RemovesWhatIsListedAndItself) {
  RunFolder folder = made();
  write_file(target_.path() + "/neighbour", "stays");
  make_files(folder, {"aa", "c-aa", 1, false, false});
  make_files(folder, {"bb", "c-bb", 3, true, false});
  make_files(folder, {"cc", "c-cc", 3, true, true});
  ASSERT_TRUE(folder.list_dataset({"dd", "c-dd", 2, true, true}));  // listed, never made
  ASSERT_TRUE(folder.list_dataset({"aa", "c-aa", 1, false, false}));
  const auto removed = folder.remove_listed();
  ASSERT_TRUE(removed) << line_of(removed);
  EXPECT_TRUE(removed->left.empty());
  EXPECT_EQ(removed->removed_files, 7U);
  EXPECT_EQ(names_in(target_.path()), std::vector<std::string>{"neighbour"});
}

TEST_F(RunFolderTest, RemovalToleratesWhatACrashLeaves) {
  {
    const RunFolder folder = made();
    const DatasetEntry entry{"aa", "c-aa", 1000, true, false};
    make_files(folder, entry);
    for (std::uint64_t i = 0; i < 1000; i += 2) ASSERT_TRUE(folder.remove_file(entry.file_name(i)));
    std::ofstream(own() + "/manifest.ndjson", std::ios::app) << R"({"dataset": "bb", "dire)";
    make_files(folder, {"cc", "c-cc", 1, false, false});  // a resumed run goes on in the same manifest
  }
  const auto removed = RunFolder::open_existing(own())->remove_listed();
  ASSERT_TRUE(removed) << line_of(removed);
  EXPECT_EQ(removed->removed_files, 501U);
  EXPECT_TRUE(names_in(target_.path()).empty());
}

TEST_F(RunFolderTest, RemovalWithoutManifest) {
  (void)made();
  fs::remove(own() + "/manifest.ndjson");
  EXPECT_TRUE(RunFolder::open_existing(own())->remove_listed());
  EXPECT_TRUE(names_in(target_.path()).empty());
}

TEST_F(RunFolderTest, WhatNoManifestListsStays) {
  RunFolder folder = made();
  make_files(folder, {"aa", "c-aa", 2, true, false});
  write_file(own() + "/stranger", "stays");
  write_file(own() + "/c-aa/extra", "stays");
  fs::create_directory(own() + "/c-unlisted");
  const auto removed = folder.remove_listed();
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->removed_files, 2U);
  const auto left = [&](const std::string& part) {
    return std::ranges::any_of(removed->left, [&](const std::string& line) { return mentions(line, part); });
  };
  EXPECT_TRUE(left("/c-aa: Directory not empty"));
  EXPECT_TRUE(left("/stranger: it is in no manifest"));
  EXPECT_TRUE(left("/c-unlisted: it is in no manifest"));
  EXPECT_EQ(names_in(own()),
            (std::vector<std::string>{".ullage-run", "c-aa", "c-unlisted", "manifest.ndjson", "stranger"}));
  EXPECT_TRUE(RunFolder::open(target_.path(), "r1")) << "still known as ours";
}

TEST_F(RunFolderTest, LeftoversAreCappedInLength) {
  RunFolder folder = made();
  for (int i = 0; i < 100; ++i) write_file(own() + "/s" + std::to_string(i), "");
  EXPECT_EQ(folder.remove_listed()->left.size(), 32U);
}

TEST_F(RunFolderTest, ManifestOnAFullFileSystemIsAnError) {
  const test::SmallFileSystem small("size=64k");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  const auto folder = RunFolder::make(small.path(), "r1");
  ASSERT_TRUE(folder);
  write_file(small.path() + "/ballast", std::string(100'000, 'x'));
  const auto status = folder->list_dataset({"aa", "c-aa", 1, false, false});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, ENOSPC);
  fs::remove(small.path() + "/ballast");
}

}  // namespace ullage::run_folder_test
