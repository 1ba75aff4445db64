/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.contract.AbstractContractStreamIOStatisticsTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;
import org.apache.hadoop.fs.contract.ContractTestUtils;
import org.apache.hadoop.fs.statistics.IOStatisticsSupport;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;

class CachedStreamIOStatisticsTest extends AbstractContractStreamIOStatisticsTest {
  @Override
  protected AbstractFSContract createContract(Configuration configuration) {
    return new CacheContract(configuration);
  }

  /** What is written is counted by the source, which is Hadoop's own. */
  @Override
  @Test
  @Disabled("Hadoop does not run it on its own local files without checksums")
  public void testWriteSingleByte() {}

  /** With a byte: a file that seems to be empty is read by a stream of the source. */
  @Override
  @Test
  public void testInputStreamStatisticKeys() throws Throwable {
    Path path = methodPath();
    ContractTestUtils.createFile(getFileSystem(), path, true, new byte[1]);
    try (FSDataInputStream in = getFileSystem().open(path)) {
      Assertions.assertThat(IOStatisticsSupport.retrieveIOStatistics(in).counters().keySet())
          .containsAll(inputStreamStatisticKeys());
    }
  }
}
