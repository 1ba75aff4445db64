/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.testkit.model.Content;
import io.crail.testkit.model.DrawnList;
import io.crail.testkit.model.Marks;
import io.crail.testkit.model.NameState;
import io.crail.testkit.model.Units;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lists of steps give what the model of the process tester says, where nothing fails. */
class DrawnListTest {
  private static final int LISTS = 3000;
  private static final int KEYS = 4;
  private static final int SMALL = 64 << 10;
  private static final CompoundOperation DELETE = CompoundOperation.builder().delete().build();

  private final long seed = Bytes.seed("DrawnListTest");
  private final Random random = new Random(seed);
  private TestCluster cluster;
  private CrailStore store;
  private long counter;

  @BeforeEach
  void start() throws Exception {
    cluster = TestCluster.start("crail.namenode.smallvalue=" + SMALL);
    store = cluster.newStore();
    store
        .create(
            "/table",
            CrailNodeType.TABLE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private CompoundResult operate(String path, CompoundOperation list) throws Exception {
    return store.operate(path, list).get(60, TimeUnit.SECONDS);
  }

  private long nextId() {
    return Units.id(1, ++counter);
  }

  @Test
  void listsGiveWhatTheModelSays() throws Exception {
    Content[] contents = new Content[KEYS];
    Arrays.fill(contents, Content.ABSENT);
    int changed = 0;
    int failed = 0;
    for (int i = 0; i < LISTS; i++) {
      int key = random.nextInt(KEYS);
      String path = "/table/" + key;
      if (random.nextInt(60) == 0) {
        contents[key] = put(path);
      }
      DrawnList list = DrawnList.draw(contents[key], nextId(), random, System.currentTimeMillis());
      CompoundResult result = operate(path, list.operation());
      String wrong = list.mismatch(result);
      assertNull(wrong, () -> "seed " + seed + ": " + wrong + ", after " + list);
      changed += list.changes() ? 1 : 0;
      failed += result.isSuccess() ? 0 : 1;
      contents[key] = list.after();
      if (contents[key].marks().endMillis() != 0) {
        operate(path, DELETE);
        contents[key] = Content.ABSENT;
      }
      read(path, contents[key]);
    }
    assertTrue(changed > LISTS / 4, "only " + changed + " lists have changed a key");
    assertTrue(failed > LISTS / 10, "only " + failed + " lists have failed");
  }

  private Content put(String path) throws Exception {
    int length = random.nextInt(3) == 0 ? SMALL + 1 : 1 + random.nextInt(SMALL);
    long id = nextId();
    byte[] bytes = new byte[length];
    Units.fill(ByteBuffer.wrap(bytes), id, id, 0);
    store.put(path, Bytes.buffer(bytes)).get(60, TimeUnit.SECONDS);
    return Content.of(id, length);
  }

  /** What a reader finds is the one content that is possible. */
  private void read(String path, Content content) throws Exception {
    CompoundResult all =
        operate(path, CompoundOperation.builder().readSize().read(0, SMALL).build());
    NameState state = NameState.NEW.done(content, 0, 0);
    if (!all.exists()) {
      assertFalse(content.isPresent(), () -> "seed " + seed + ": nothing instead of " + content);
    } else if (all.size() <= SMALL) {
      ByteBuffer bytes = ByteBuffer.wrap(all.bytes(1));
      assertTrue(state.find(bytes) == 0, () -> "seed " + seed + ": " + state.explain(bytes));
    }
  }

  @Test
  void aLateListMakesNothingElse() throws Exception {
    Content present =
        Content.of(nextId(), 100).with(Marks.NEW.withVersion(3).withEpoch(2).with("first", 5));
    for (int i = 0; i < LISTS; i++) {
      DrawnList list = DrawnList.draw(present, nextId(), random, System.currentTimeMillis());
      operate("/table/late", list.operation());
      CompoundOperation look = CompoundOperation.builder().requireExists().build();
      if (operate("/table/late", look).exists()) {
        assertTrue(list.after().isPresent(), () -> "seed " + seed + ": made by " + list);
        operate("/table/late", DELETE);
      }
    }
  }
}
