/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.crail.CrailFile;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.Upcoming;
import io.crail.common.error.CrailException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.memory.OffHeapBuffer;
import java.nio.ByteBuffer;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Deletes of a file whose writes are still on their way. */
class DeleteWhileWritingTest {
  @Test
  void everyDeleteIsAnswered() throws Exception {
    try (TestCluster cluster = TestCluster.start("crail.storage.localmap=false")) {
      CrailStore store = cluster.newStore("crail.storage.localmap=false");
      for (int round = 0; round < 20; round++) {
        String path = "/deleted-" + round;
        CrailFile file =
            store
                .create(
                    path,
                    CrailNodeType.DATAFILE,
                    CrailStorageClass.DEFAULT,
                    CrailLocationClass.DEFAULT,
                    true)
                .get(10, TimeUnit.SECONDS)
                .asFile();
        CrailOutputStream out = file.getDirectOutputStream(4 << 20);
        for (int i = 0; i < 4; i++) {
          out.write(OffHeapBuffer.wrap(ByteBuffer.allocateDirect(1 << 20)));
        }
        // Nobody waits for the writes, so both deletes find them in flight.
        Upcoming<CrailNode> first = store.delete(path, false);
        Upcoming<CrailNode> second = store.delete(path, false);
        assertEquals(1, deleted(first) + deleted(second));
        assertNull(store.lookup(path).get(10, TimeUnit.SECONDS));
      }
    }
  }

  /** 1 when the delete found the node, 0 when it was gone before. */
  private static int deleted(Upcoming<CrailNode> delete) throws Exception {
    try {
      delete.get(30, TimeUnit.SECONDS);
      return 1;
    } catch (ExecutionException e) {
      CrailException cause = assertInstanceOf(CrailException.class, e.getCause());
      assertInstanceOf(NodeNotFoundException.class, cause);
      return 0;
    }
  }
}
