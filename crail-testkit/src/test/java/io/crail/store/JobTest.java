/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.crail.CrailBlockLocation;
import io.crail.CrailLocationClass;
import io.crail.CrailNode;
import io.crail.CrailNodeType;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NodeNotFoundException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.Lifetime;
import io.crail.embedded.EmbeddedCrail;
import io.crail.job.CrailJob;
import io.crail.job.JobLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Lifetimes and the directories of jobs, over several namenodes. */
class JobTest {
  private static final int NAMENODES = 3;
  private static final Duration LEASE = CrailJob.LEAST_LEASE;

  private TestCluster cluster;
  private CrailStore store;

  @BeforeEach
  void start() throws Exception {
    cluster = TestCluster.start(NAMENODES, 1);
    store = cluster.newStore();
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private static CrailNode make(CrailStore in, String path, CrailNodeType type) throws Exception {
    return in.create(path, type, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get(60, TimeUnit.SECONDS);
  }

  private CompoundResult operate(String path, CompoundOperation.Builder steps) throws Exception {
    return store.operate(path, steps.build()).get(60, TimeUnit.SECONDS).orThrow();
  }

  private long remaining(String path) throws Exception {
    return operate(path, CompoundOperation.builder().readLifetime()).number(0);
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.call()) {
      assertTrue(System.nanoTime() < end, "not within 30 s");
      Thread.sleep(20);
    }
  }

  private CrailJob begin(CrailStore in) throws Exception {
    return CrailJob.begin(in, "a job/of mine", LEASE, CrailStorageClass.DEFAULT);
  }

  @Test
  void theDataOfAJobEndWithIt() throws Exception {
    CrailJob job = begin(store);
    assertTrue(job.root().matches("/jobs/a-job-of-mine-[0-9a-f]{16}"), job.root());
    make(store, job.root() + "/shuffle", CrailNodeType.DIRECTORY);
    make(store, job.root() + "/shuffle/f", CrailNodeType.DATAFILE);
    CrailJob other = begin(store);
    assertNotEquals(job.root(), other.root());
    job.close();
    assertNull(store.lookup(job.root() + "/shuffle/f").get());
    assertNull(store.lookup(job.root()).get());
    assertNotNull(store.lookup(other.root()).get());
    other.close();
    assertFalse(store.lookup("/jobs").get().asContainer().listStatus().hasNext());
  }

  @Test
  void aJobKeepsItsDataAsLongAsAProcessRenewsItsLease() throws Exception {
    CrailStore first = cluster.newStore();
    CrailJob begun = begin(first);
    CrailJob joined = CrailJob.join(store, begun.root());
    make(first, begun.root() + "/f", CrailNodeType.DATAFILE);
    // Its process dies: what renews the lease there fails from now on.
    first.close();
    long end = System.nanoTime() + LEASE.multipliedBy(2).toNanos();
    while (System.nanoTime() < end) {
      // That is no access to the directory.
      assertNotNull(store.lookup(begun.root() + "/f").get());
      Thread.sleep(50);
    }
    assertFalse(joined.isLost());
    joined.close();
    await(() -> store.lookup(begun.root() + "/f").get() == null);
    assertThrows(NodeNotFoundException.class, () -> CrailJob.join(store, begun.root()));
    assertThrows(Exception.class, begun::close);
  }

  @Test
  void aJobThatIsRemovedKnowsIt() throws Exception {
    try (CrailJob job = begin(store)) {
      store.delete(job.root(), true).get();
      await(job::isLost);
    }
  }

  @Test
  void onlyADirectoryWithALeaseIsJoined() throws Exception {
    make(store, "/other", CrailNodeType.DIRECTORY);
    assertThrows(IllegalArgumentException.class, () -> CrailJob.join(store, "/other"));
    for (Duration lease : List.of(LEASE.minusMillis(1), CrailJob.MOST_LEASE.plusMillis(1))) {
      assertThrows(
          IllegalArgumentException.class,
          () -> CrailJob.begin(store, "name", lease, CrailStorageClass.DEFAULT));
    }
    assertNull(store.lookup("/jobs").get());
  }

  @Test
  void aJobHoldsNoMoreThanItsLimits() throws Exception {
    JobLimits limits = new JobLimits(64 << 10, 2);
    try (CrailJob job = CrailJob.begin(store, "l", LEASE, CrailStorageClass.DEFAULT, limits)) {
      make(store, job.root() + "/table", CrailNodeType.TABLE);
      ExecutionException tooLong =
          assertThrows(
              ExecutionException.class,
              () ->
                  store.put(job.root() + "/table/v", Bytes.buffer(new byte[(64 << 10) + 1])).get());
      assertEquals(ErrorCode.QUOTA_EXCEEDED, ((CrailException) tooLong.getCause()).code());
      store.put(job.root() + "/table/v", Bytes.buffer(new byte[1])).get();
      ExecutionException tooMany =
          assertThrows(
              ExecutionException.class,
              () -> make(store, job.root() + "/other", CrailNodeType.TABLE));
      assertEquals(ErrorCode.QUOTA_EXCEEDED, ((CrailException) tooMany.getCause()).code());
      assertEquals(
          job.root(),
          operate(job.root(), CompoundOperation.builder().readUsage()).usage(0).directory());
      assertTrue(remaining(job.root()) > 0);
    }
    assertThrows(IllegalArgumentException.class, () -> new JobLimits(-2, 0));
  }

  private static TestCluster withTwoClasses() throws Exception {
    return TestCluster.of(
        EmbeddedCrail.builder()
            .namenodes(2)
            .storageClasses(0, 1, 1)
            .storage(16 << 20)
            .set("crail.storage.tcp.allocationsize", "4m")
            .set("crail.storage.classes", "2")
            .start());
  }

  @Test
  void aJobGetsTheFirstClassThatHasRoomForIt() throws Exception {
    try (TestCluster other = withTwoClasses()) {
      CrailStore in = other.newStore();
      // Each namenode has 8 MiB of the first one, and 16 MiB of the second one.
      assertEquals(0, CrailJob.storageClassFor(in, 0).value());
      assertEquals(0, CrailJob.storageClassFor(in, 8 << 20).value());
      assertEquals(1, CrailJob.storageClassFor(in, (8 << 20) + 1).value());
      assertEquals(1, CrailJob.storageClassFor(in, 100 << 20).value());
      assertEquals(
          in.getSpace().freeBytes(),
          in.getSpace().parts().stream().mapToLong(CrailSpace.FreePart::bytes).sum());
      assertThrows(IllegalArgumentException.class, () -> CrailJob.storageClassFor(in, -1));
    }
  }

  @Test
  void dataWithTheClassOfTheParentAreInThatOfTheJob() throws Exception {
    try (TestCluster other = withTwoClasses()) {
      CrailStore in = other.newStore();
      try (CrailJob job = CrailJob.begin(in, "slow", LEASE, CrailStorageClass.get(1))) {
        in.create(
                job.root() + "/shuffle",
                CrailNodeType.TABLE,
                CrailStorageClass.PARENT,
                CrailLocationClass.PARENT,
                true)
            .get();
        String path = job.root() + "/shuffle/v";
        in.put(path, Bytes.buffer(new byte[1 << 20])).get();
        CrailNode value = in.lookup(path).get();
        CrailBlockLocation[] places = value.getBlockLocations(0, value.getCapacity());
        assertNotEquals(0, places.length);
        for (CrailBlockLocation place : places) {
          assertArrayEquals(new int[] {1}, place.getStorageClasses());
        }
      }
    }
  }

  @Test
  void aDirectoryOfJobsWithoutALeaseGetsOne() throws Exception {
    make(store, "/jobs", CrailNodeType.DIRECTORY);
    begin(store).close();
    make(store, "/jobs/made-by-hand", CrailNodeType.DIRECTORY);
    assertEquals(CrailJob.LEASE.toMillis(), remaining("/jobs/made-by-hand"));
  }

  @Test
  void aNewDirectoryOfAJobHasALeaseFromTheBeginning() throws Exception {
    begin(store).close();
    make(store, "/jobs/made-by-hand", CrailNodeType.DIRECTORY);
    assertEquals(CrailJob.LEASE.toMillis(), remaining("/jobs/made-by-hand"));
  }

  @Test
  void theChildrenOfASpreadDirectoryHaveItsLifetimeAtEachNamenode() throws Exception {
    store
        .createSpread(
            "/s", CrailNodeType.TABLE, CrailStorageClass.DEFAULT, CrailLocationClass.DEFAULT, true)
        .get();
    int children = 60;
    operate("/s", CompoundOperation.builder().expireChildren(Lifetime.of(Duration.ofHours(1))));
    for (int i = 0; i < children; i++) {
      store.put("/s/" + i, Bytes.buffer(new byte[] {1})).get();
      assertTrue(remaining("/s/" + i) > 0);
    }
    operate("/s", CompoundOperation.builder().expireChildren(Lifetime.UNLIMITED));
    for (int i = 0; i < children; i++) {
      store.put("/s/" + i, Bytes.buffer(new byte[] {1})).get();
      assertEquals(-1, remaining("/s/" + i));
      operate("/s/" + i, CompoundOperation.builder().expire(Lifetime.of(Duration.ofMillis(300))));
    }
    await(() -> store.lookup("/s").get().asContainer().files() == 0);
  }

  @Test
  void aSpreadDirectoryEndsAtAllNamenodes() throws Exception {
    make(store, "/above", CrailNodeType.DIRECTORY);
    store
        .createSpread(
            "/above/s",
            CrailNodeType.TABLE,
            CrailStorageClass.DEFAULT,
            CrailLocationClass.DEFAULT,
            true)
        .get();
    for (int i = 0; i < 30; i++) {
      store.put("/above/s/" + i, Bytes.buffer(new byte[] {1})).get();
    }
    operate("/above", CompoundOperation.builder().expire(Lifetime.of(Duration.ofMillis(300))));
    await(() -> store.lookup("/above").get() == null);
    for (int i = 0; i < 30; i++) {
      assertNull(store.lookup("/above/s/" + i).get());
    }
  }
}
