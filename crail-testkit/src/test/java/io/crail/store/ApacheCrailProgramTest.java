/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailBuffer;
import io.crail.CrailBufferedInputStream;
import io.crail.CrailBufferedOutputStream;
import io.crail.CrailDirectory;
import io.crail.CrailFile;
import io.crail.CrailInputStream;
import io.crail.CrailKeyValue;
import io.crail.CrailLocationClass;
import io.crail.CrailMultiFile;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailOutputStream;
import io.crail.CrailResult;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.CrailTable;
import io.crail.Upcoming;
import io.crail.conf.CrailConfiguration;
import io.crail.memory.OffHeapBuffer;
import io.crail.testkit.tier.EachTier;
import io.crail.testkit.tier.Tier;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Programs as they are written for Apache Crail 1.2, with other imports: every method that such a
 * program calls is called here in its usual way.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@EachTier
@Tag("repeat")
class ApacheCrailProgramTest implements EachTier.Shared {
  private TestCluster cluster;
  private CrailStore store;

  @Override
  public void start(Tier tier) throws Exception {
    cluster = TestCluster.start(tier, 1, 1);
    CrailConfiguration conf = CrailConfiguration.createEmptyConfiguration();
    conf.set(
        "crail.namenode.address",
        CrailConfiguration.of(cluster.configuration()).get("crail.namenode.address"));
    tier.settings().forEach(conf::set);
    conf.setInt("crail.buffersize", 1 << 20);
    assertTrue(conf.getBoolean("crail.statistics", true));
    store = CrailStore.newInstance(conf);
  }

  @Override
  public void stop() throws Exception {
    store.getStatistics().print("close");
    store.close();
    cluster.close();
  }

  /** The loop of the blog on the file system. */
  @Test
  void readsAFileWithDirectStreams() throws Exception {
    CrailFile file =
        store
            .create(
                "/tmp.dat",
                CrailNodeType.DATAFILE,
                CrailStorageClass.get(0),
                CrailLocationClass.get(0),
                true)
            .get()
            .asFile();
    file.syncDir();
    CrailBuffer buf = store.allocateBuffer();
    CrailOutputStream output = file.getDirectOutputStream(3L * buf.capacity());
    for (int i = 0; i < 3; i++) {
      buf.clear();
      buf.putInt(i).putLong(i).putDouble(i).putFloat(i).putShort((short) i);
      buf.put((byte) i);
      buf.clear();
      Future<CrailResult> future = output.write(buf);
      assertEquals(buf.capacity(), future.get().getLen());
    }
    assertEquals(3L * buf.capacity(), output.position());
    output.sync().get();
    output.close();
    CrailFile found = store.lookup("/tmp.dat").get().asFile();
    CrailInputStream stream = found.getDirectInputStream(found.getCapacity());
    int i = 0;
    while (stream.available() > 0) {
      buf.clear();
      Future<CrailResult> future = stream.read(buf);
      while (!future.isDone()) {
        Thread.onSpinWait();
      }
      assertTrue(future.get().getLen() > 0);
      buf.flip();
      assertEquals(i, buf.getInt());
      assertEquals(i, buf.getLong());
      assertEquals(i, buf.getDouble());
      assertEquals(i, buf.getFloat());
      assertEquals(i, buf.getShort());
      assertEquals(i, buf.get());
      i++;
    }
    assertEquals(3, i);
    stream.seek(4);
    assertEquals(4, stream.position());
    CrailBuffer slice = buf.clear().position(10).limit(18).slice();
    assertEquals(8, slice.remaining());
    assertEquals(8, stream.read(slice).get().getLen());
    slice.flip();
    assertEquals(0, slice.getLong());
    assertEquals(buf.getRegion(), slice.getRegion());
    stream.close();
    store.freeBuffer(buf);
    CrailBlockLocation[] locations = found.getBlockLocations(0, found.getCapacity());
    assertEquals(0, locations[0].getOffset());
    assertTrue(found.getFd() != 0 && found.getToken() == 0);
    assertNotNull(found.getFileSystem());
    store.delete("/tmp.dat", false).get().syncDir();
  }

  /** As the YCSB binding does: a table, values of fields with their lengths, and busy waiting. */
  @Test
  void putsAndGetsKeys() throws Exception {
    CrailNode node = store.lookup("usertable").get();
    assertNull(node);
    CrailTable table =
        store
            .create(
                "usertable",
                CrailNodeType.TABLE,
                CrailStorageClass.DEFAULT,
                CrailLocationClass.DEFAULT,
                true)
            .get()
            .asTable();
    table.syncDir();
    Map<String, byte[]> values = new HashMap<>();
    values.put("field0", new byte[] {1, 2, 3});
    for (int round = 0; round < 2; round++) {
      CrailKeyValue file =
          store
              .create(
                  "usertable" + "/" + "user1",
                  CrailNodeType.KEYVALUE,
                  CrailStorageClass.DEFAULT,
                  CrailLocationClass.DEFAULT,
                  false)
              .get()
              .asKeyValue();
      CrailBufferedOutputStream stream = file.getBufferedOutputStream(1024);
      for (Map.Entry<String, byte[]> entry : values.entrySet()) {
        byte[] key = entry.getKey().getBytes("UTF-8");
        stream.writeInt(key.length);
        stream.write(key);
        stream.writeInt(entry.getValue().length);
        stream.write(entry.getValue());
      }
      file.syncDir();
      stream.close();
    }
    CrailKeyValue file = store.lookup("usertable/user1").get().asKeyValue();
    CrailBufferedInputStream stream = file.getBufferedInputStream(1024);
    while (stream.available() < Integer.BYTES) {
      Thread.onSpinWait();
    }
    byte[] key = new byte[stream.readInt()];
    assertEquals(key.length, stream.read(key));
    byte[] value = new byte[stream.readInt()];
    assertEquals(value.length, stream.read(value));
    assertEquals("field0", new String(key, "UTF-8"));
    assertArrayEquals(values.get("field0"), value);
    stream.close();
    store.delete("usertable/user1", false).get().syncDir();
    assertNull(store.lookup("usertable/user1").get());
  }

  /** As the shuffle of Spark-IO does: early files in multi-files, purge, sync, multi-streams. */
  @Test
  void shuffles() throws Exception {
    CrailDirectory root =
        store
            .create(
                "/spark",
                CrailNodeType.DIRECTORY,
                CrailStorageClass.PARENT,
                CrailLocationClass.PARENT,
                true)
            .get()
            .asDirectory();
    LinkedBlockingQueue<Future<CrailNode>> futures = new LinkedBlockingQueue<>();
    for (int part = 0; part < 4; part++) {
      futures.add(
          store.create(
              "/spark/part_" + part,
              CrailNodeType.MULTIFILE,
              CrailStorageClass.PARENT,
              CrailLocationClass.DEFAULT,
              true));
    }
    while (!futures.isEmpty()) {
      futures.poll().get().syncDir();
    }
    CrailLocationClass here = store.getLocationClass();
    for (int part = 0; part < 4; part++) {
      Upcoming<CrailNode> upcoming =
          store.create(
              "/spark/part_" + part + "/0-1-" + here.value(),
              CrailNodeType.DATAFILE,
              CrailStorageClass.PARENT,
              here,
              true);
      CrailFile early = upcoming.early().asFile();
      CrailBufferedOutputStream stream = early.getBufferedOutputStream(0);
      stream.write(ByteBuffer.wrap(new byte[] {(byte) part}));
      stream.writeLong(part);
      Future<CrailResult> purge = stream.purge();
      assertEquals(9, purge.get().getLen());
      Future<Void> sync = stream.sync();
      sync.get();
      stream.close();
    }
    assertEquals(4, root.files());
    Iterator<String> entries = root.listEntries();
    int parts = 0;
    while (entries.hasNext()) {
      CrailMultiFile multi = store.lookup(entries.next()).get().asMultiFile();
      CrailBufferedInputStream stream = multi.getMultiStream(2);
      ByteBuffer target = ByteBuffer.allocateDirect(1);
      assertEquals(1, stream.read(target));
      assertEquals(target.get(0), stream.readLong());
      assertEquals(-1, stream.read());
      stream.close();
      parts++;
    }
    assertEquals(4, parts);
    CrailNode renamed = store.rename("/spark/part_0", "/spark/part_9").get();
    renamed.syncDir();
    assertEquals(CrailNodeType.MULTIFILE, renamed.getType());
    assertEquals(CrailNodeType.parse(2), renamed.getType());
    assertTrue(renamed.getType().isContainer() && !renamed.getType().isDirectory());
    assertFalse(renamed.asContainer().listEntries().next().isEmpty());
    store.delete("/spark", true).get();
  }

  @Test
  void wrapsMemoryOfItsOwn() throws Exception {
    CrailBuffer buffer = OffHeapBuffer.wrap(ByteBuffer.allocateDirect(64));
    buffer.put(new byte[10]).put(new byte[5], 1, 3);
    assertEquals(13, buffer.position());
    buffer.flip();
    ByteBuffer target = ByteBuffer.allocate(13);
    buffer.get(target);
    assertFalse(buffer.hasRemaining());
    assertEquals(13, target.position());
    assertEquals(64, buffer.getByteBuffer().capacity());
  }
}
