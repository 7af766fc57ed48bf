// SPDX-License-Identifier: Apache-2.0
// The pace of an epoch, and what a device of known speed makes of it.
#include "storage/workloads/loader/loader_state.hpp"

#include "storage/workloads/loader/test_support.hpp"

namespace ullage::loader_test {
namespace {

class EpochPace : public OneRepetition {
 protected:
  /// Compute time over all of the time, of the best of so many repetitions: others may have the cores in one of them.
  double best_use(const Values& given, double enough) {
    double best = 0;
    for (int i = 0; i < 100 && best < enough; ++i) {
      const Json records = run(given);
      EXPECT_EQ(status_, PhaseStatus::ok);
      const Json& gauges = records.back()["gauges"];
      best = std::max(best, gauges["compute_s"]["sum"].get<double>() / gauges["run_s"]["sum"].get<double>());
    }
    return best;
  }
  static Values of_a_device(double step_s, std::int64_t batch) {
    return {{"data", words("none")},
            {"verify", words("none")},
            {"cache", words("none")},
            {"threads", number(1)},
            {"epochs", number(1)},
            {"step_s", step_s},
            {"batch", number(batch)},
            {"deviation_bytes", number(0)},
            {"sample_bytes", number(1000000)},
            {"transfer_bytes", number(1 << 20)}};
  }
};

TEST_F(EpochPace, IsKeptWithinOnePercentOfThreeAndAHalfMilliseconds) {
  use("null");
  Values given = of_a_device(0.0035, 1);
  given["samples"] = number(20);
  const double best = best_use(given, 0.995);
  EXPECT_GT(best, 0.99);
  EXPECT_LE(best, 1.0) << "no step is shorter than the pace";
}

TEST_F(EpochPace, ADeviceThatIsTooSlowLeavesTheShareThatWasComputedBefore) {
  // A batch of one sample takes 5 MB / 100 MB/s = 50 ms to read, in one call: a thread that is woken up late, on a busy
  // machine, is late once a batch. Computing with it takes 25 ms.
  use("model", {{"bandwidth", 100e6}});
  Values given = of_a_device(0.025, 1);
  given["samples"] = number(20);
  given["sample_bytes"] = number(5'000'000);
  given["transfer_bytes"] = number(8 << 20);
  const double best = best_use(given, 0.48);
  EXPECT_GT(best, 0.46);
  EXPECT_LT(best, 0.501);
}

TEST_F(EpochPace, ADeviceThatIsFastEnoughKeepsTheAcceleratorBusy) {
  use("model", {{"bandwidth", 400e6}});  // 12.5 ms a batch
  EXPECT_GT(best_use(of_a_device(0.025, 5), 0.98), 0.96);
}

TEST_F(EpochPace, TotalsGoOnOverTheEpochs) {
  use("null");
  Values given = of_a_device(0.0005, 10);
  given["epochs"] = number(3);
  const Json records = run(given);
  ASSERT_EQ(records.size(), 3U);
  double sum = 0;
  for (const Json& record : records) sum += record["gauges"]["compute_s"]["sum"].get<double>();
  EXPECT_NEAR(records[2]["gauges"]["all_compute_s"]["sum"].get<double>(), sum, 1e-9);
  EXPECT_NEAR(sum, 3 * 9 * 0.0005, 1e-9) << "without the first of ten steps";
}

TEST_F(EpochPace, ABatchThatIsNotFullTakesItsPartOfTheTime) {
  use("null");
  const Json records = run(of_a_device(0.001, 30));  // 30, 30, 30, 10
  EXPECT_NEAR(records[0]["gauges"]["compute_s"]["sum"].get<double>(), 0.001 * 7 / 3, 1e-8);
}

}  // namespace
}  // namespace ullage::loader_test
