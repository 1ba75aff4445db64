/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.crail.common.error.NodeNotFoundException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.cluster.Dump;
import io.crail.protocol.cluster.Usage;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.List;
import org.junit.jupiter.api.Test;

class SmokeTest {
  @Test
  void oneStoreEndToEnd() throws Exception {
    TestStore store = new TestStore();
    store.datanode(64L << 20);
    store.mkdir("/dir");
    NodeInfo file = store.write("/dir/file", 10_000);
    assertEquals(10_000, file.size());
    assertEquals(10_000, store.lookup("/dir/file").extents().get(0).length());
    assertEquals(file.id(), store.lookup("/dir/file").node().id());
    assertEquals(List.of("dir"), store.list(store.lookup("/").node().id(), 10));
    store.namenode.verify();
    store.rename("/dir/file", "/dir/a-name-that-is-longer-than-twenty-four-bytes");
    assertEquals(
        file.id(), store.lookup("/dir/a-name-that-is-longer-than-twenty-four-bytes").node().id());
    assertThrows(NodeNotFoundException.class, () -> store.lookup("/dir/file"));
    store.create(NodeType.TABLE, "/t", 0);
    store.create(NodeType.KEYVALUE, "/t/k", 0);
    Usage.Response usage = store.call(NameNodeOperations.USAGE, new Usage.Request());
    assertEquals(5, usage.nodes());
    assertEquals(1, usage.onlineDatanodes());
    Dump.Response dump = store.call(NameNodeOperations.DUMP, new Dump.Request(0));
    assertEquals(-1, dump.next());
    store.remove("/dir", true);
    store.namenode.verify();
    assertEquals(64L << 20, store.usage(0).freeBytes());
  }
}
