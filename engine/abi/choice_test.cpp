// SPDX-License-Identifier: Apache-2.0
#include "abi/choice.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ullage::choice_test {
namespace {

Variable from(const std::map<std::string, std::string>& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

/// Where only the libraries of `here` can be loaded.
std::function<Library(const std::string&)> with(const std::string& here) {
  return [here](const std::string& abi) -> Library {
    if (abi == here) return "/opt/" + abi + "/libmpi.so";
    return fail(environment_error(abi, "is not there"));
  };
}

TEST(AbiChoice, TheLauncherOfARankIsKnownByItsVariables) {
  const auto open_mpi = launched(from({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "0"}}), "");
  EXPECT_TRUE(open_mpi.is_rank);
  EXPECT_EQ(open_mpi.order.front(), "openmpi");
  const auto hydra = launched(from({{"PMI_RANK", "0"}}), "/usr/bin/mpirun.openmpi");
  EXPECT_TRUE(hydra.is_rank);
  EXPECT_EQ(hydra.order.front(), "mpich");
  EXPECT_TRUE(launched(from({{"PMIX_RANK", "3"}}), "").is_rank);
}

TEST(AbiChoice, WithoutALaunchTheLauncherOnThePathSaysWhichComesFirst) {
  EXPECT_EQ(launched(from({}), "/opt/x/bin/mpiexec.hydra").order.front(), "mpich");
  EXPECT_EQ(launched(from({}), "/usr/bin/orterun").order.front(), "openmpi");
  EXPECT_FALSE(launched(from({}), "/usr/bin/orterun").is_rank);
}

TEST(AbiChoice, TakesTheFirstThatLoadsAndSaysWhy) {
  const auto choice = choose_abi(launched(from({{"PMI_SIZE", "2"}}), ""), std::nullopt, with("mpi5")).value();
  EXPECT_EQ(choice.abi, "mpi5");
  EXPECT_EQ(choice.library, "/opt/mpi5/libmpi.so");
  EXPECT_EQ(choice.why, "a launcher that speaks PMI started this process");
  EXPECT_EQ(choose_abi(launched(from({}), "/opt/bin/mpiexec"), std::nullopt, with("mpich")).value().why,
            "/opt/bin/mpiexec is the launcher on PATH");
}

TEST(AbiChoice, IsOneProcessWhereNothingCouldStartRanks) {
  const auto none = choose_abi(launched(from({}), ""), std::nullopt, with("openmpi")).value();
  EXPECT_EQ(none.abi, "single");
  EXPECT_NE(none.why.find("no mpiexec"), std::string::npos);
  const auto broken = choose_abi(launched(from({}), "/opt/bin/mpiexec"), std::nullopt, with("")).value();
  EXPECT_EQ(broken.abi, "single");
  EXPECT_NE(broken.why.find("openmpi: is not there"), std::string::npos);
}

TEST(AbiChoice, ARankWithoutItsMpiIsRefused) {
  const auto refused = choose_abi(launched(from({{"OMPI_COMM_WORLD_SIZE", "2"}}), ""), std::nullopt, with(""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::environment);
  EXPECT_NE(to_line(refused.error()).find("Open MPI's mpirun started this process, but no MPI can be loaded"),
            std::string::npos);
}

TEST(AbiChoice, AWishIsKeptOrRefused) {
  const auto how = launched(from({{"OMPI_COMM_WORLD_SIZE", "2"}}), "");
  EXPECT_EQ(choose_abi(how, "mpich", with("mpich")).value().abi, "mpich");
  EXPECT_EQ(choose_abi(how, "single", with("openmpi")).value().abi, "single");
  EXPECT_FALSE(choose_abi(how, "mpich", with("openmpi")));
  EXPECT_EQ(to_line(choose_abi(how, "lam", with("openmpi")).error()),
            "ULLAGE_MPI: is none of openmpi, mpich, mpi5 and single: lam");
}

}  // namespace
}  // namespace ullage::choice_test
