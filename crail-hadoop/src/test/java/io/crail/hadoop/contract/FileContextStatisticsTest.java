/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.hadoop.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.hadoop.SharedCluster;
import java.net.URI;
import org.apache.hadoop.fs.FCStatisticsBaseTest;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests the bytes that a {@link FileContext} counts. */
@ExtendWith(FileContexts.class)
@Tag("once")
class FileContextStatisticsTest extends FCStatisticsBaseTest {
  @BeforeEach
  void start() throws Exception {
    FileContext.clearStatistics();
    fc = FileContexts.create();
    fc.mkdir(fileContextTestHelper.getTestRootPath(fc, "test"), FileContext.DEFAULT_PERM, true);
  }

  @AfterEach
  void clear() throws Exception {
    fc.delete(fileContextTestHelper.getTestRootPath(fc, "test"), true);
  }

  @AfterAll
  static void forget() {
    fc = null;
  }

  /** What the suite reads: the first block of a file, twice. */
  @Override
  protected void verifyReadBytes(FileSystem.Statistics statistics) {
    assertEquals(2L * blockSize, statistics.getBytesRead());
  }

  @Override
  protected void verifyWrittenBytes(FileSystem.Statistics statistics) {
    assertEquals((long) blockSize * numBlocks, statistics.getBytesWritten());
  }

  @Override
  protected URI getFsUri() {
    return SharedCluster.uri();
  }
}
