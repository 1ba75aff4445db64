/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.job;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailSpace;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Threads;
import io.crail.common.error.IncompleteException;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.Lifetime;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory for the data of a job. It has a lease, which this renews as long as the process
 * lives. When the job ends, or nothing has renewed the lease for its time, the directory ends with
 * all that is in it.
 *
 * <p>The directory is in {@code /jobs}, whose children are distributed over all namenodes; all of
 * one job is at one of them. Other processes of the job need its path only, and any of them may
 * {@link #join} to keep it alive. Thread-safe.
 */
public final class CrailJob implements AutoCloseable {
  /** The directory that has the directories of all jobs. */
  public static final String DIRECTORY = "/jobs";

  /** The usual lease. */
  public static final Duration LEASE = Duration.ofMinutes(1);

  /** The shortest lease. */
  public static final Duration LEAST_LEASE = Duration.ofSeconds(2);

  /** The longest lease. */
  public static final Duration MOST_LEASE = Duration.ofMillis(Lifetime.MAX_MILLIS);

  private static final Logger LOG = LoggerFactory.getLogger(CrailJob.class);
  private static final int RENEWALS = 4;
  private static final int NAME_LENGTH = 60;
  private static final long CLOSE_SECONDS = 10;

  private final CrailStore store;
  private final String root;
  private final boolean isOwner;
  private final ScheduledExecutorService thread;
  private final long periodMillis;
  private volatile boolean lost;
  private boolean failing;

  private CrailJob(CrailStore store, String root, Duration lease, boolean isOwner) {
    this.store = store;
    this.root = root;
    this.isOwner = isOwner;
    this.thread = Executors.newSingleThreadScheduledExecutor(Threads.factory("crail-job-lease"));
    this.periodMillis = lease.toMillis() / RENEWALS;
    thread.scheduleAtFixedRate(this::renew, periodMillis, periodMillis, TimeUnit.MILLISECONDS);
  }

  /**
   * The storage class for a job that will hold so many bytes: the first one, which is the fastest,
   * with so much free space, whichever namenode the job will be at. If none has so much, the one
   * that has most, from which the data overflow as they always do. So slow classes take what would
   * fill the fast ones. This looks at the present, and reserves nothing.
   *
   * @param store the store
   * @param bytes what the job will hold
   * @return the class; the default one when no datanode is there
   * @throws IllegalArgumentException for less than 0 bytes
   * @throws Exception when a namenode does not answer, or as operations of the store do
   */
  public static CrailStorageClass storageClassFor(CrailStore store, long bytes) throws Exception {
    if (bytes < 0) {
      throw new IllegalArgumentException("a job of " + bytes + " bytes");
    }
    CrailSpace space = store.getSpace();
    if (!space.missing().isEmpty()) {
      throw new IncompleteException("the free space", space.missing());
    }
    TreeMap<Integer, Long> leastFree = new TreeMap<>();
    space.parts().forEach(each -> leastFree.merge(each.storageClass(), each.bytes(), Math::min));
    int chosen = CrailStorageClass.DEFAULT.value();
    for (Map.Entry<Integer, Long> each : leastFree.entrySet()) {
      if (each.getValue() >= bytes) {
        return CrailStorageClass.get(each.getKey());
      }
      if (each.getValue() > leastFree.getOrDefault(chosen, -1L)) {
        chosen = each.getKey();
      }
    }
    return CrailStorageClass.get(chosen);
  }

  /**
   * Begins a job without limits.
   *
   * @param store the store, which has to stay open until the job is closed
   * @param name a name for people, a part of that of the directory; other characters than letters,
   *     digits, {@code .}, {@code _} and {@code -} are replaced
   * @param lease how long the data stay when the process dies, {@link #LEAST_LEASE} to {@link
   *     #MOST_LEASE}
   * @param storageClass the storage class of the directory; data below it have the same if they are
   *     created with {@link CrailStorageClass#PARENT}
   * @return the job, whose directory is there
   * @throws ExecutionException when the store refuses or does not answer
   * @throws IllegalArgumentException for another lease
   * @throws Exception as operations of the store do
   */
  public static CrailJob begin(
      CrailStore store, String name, Duration lease, CrailStorageClass storageClass)
      throws Exception {
    return begin(store, name, lease, storageClass, JobLimits.UNLIMITED);
  }

  /**
   * Begins a job.
   *
   * @param store the store, which has to stay open until the job is closed
   * @param name a name for people, a part of that of the directory; other characters than letters,
   *     digits, {@code .}, {@code _} and {@code -} are replaced
   * @param lease how long the data stay when the process dies, {@link #LEAST_LEASE} to {@link
   *     #MOST_LEASE}
   * @param storageClass the storage class of the directory; data below it have the same if they are
   *     created with {@link CrailStorageClass#PARENT}
   * @param limits what the directory may hold, by all processes together
   * @return the job, whose directory is there
   * @throws ExecutionException when the store refuses or does not answer
   * @throws IllegalArgumentException for another lease
   * @throws Exception as operations of the store do
   */
  public static CrailJob begin(
      CrailStore store,
      String name,
      Duration lease,
      CrailStorageClass storageClass,
      JobLimits limits)
      throws Exception {
    if (lease.compareTo(LEAST_LEASE) < 0 || lease.compareTo(MOST_LEASE) > 0) {
      throw new IllegalArgumentException(
          "a lease of " + lease + ", must be between " + LEAST_LEASE + " and " + MOST_LEASE);
    }
    if (store.lookup(DIRECTORY).get() == null) {
      makeDirectory(store);
    }
    byte[] random = new byte[8];
    new SecureRandom().nextBytes(random);
    String plain = name.replaceAll("[^A-Za-z0-9._-]+", "-");
    String root =
        DIRECTORY
            + '/'
            + plain.substring(0, Math.min(plain.length(), NAME_LENGTH))
            + '-'
            + HexFormat.of().formatHex(random);
    store
        .create(root, CrailNodeType.DIRECTORY, storageClass, CrailLocationClass.DEFAULT, true)
        .get();
    try {
      CompoundOperation.Builder own =
          CompoundOperation.builder().readLifetime().expire(Lifetime.sinceAccess(lease));
      if (!limits.equals(JobLimits.UNLIMITED)) {
        own.limit(limits.bytes(), limits.names());
      }
      if (store.operate(root, own.build()).get().orThrow().number(0) < 0) {
        // Whoever made the directory of all jobs has not come so far.
        setLease(store);
      }
    } catch (Exception | Error e) {
      try {
        store.delete(root, true).get();
      } catch (ExecutionException second) {
        e.addSuppressed(second);
      }
      throw e;
    }
    return new CrailJob(store, root, lease, true);
  }

  /**
   * Keeps a job alive that another process has begun, as long as that has not closed it.
   *
   * @param store the store, which has to stay open until this is closed
   * @param root the directory of the job
   * @return the job; its end does not end the directory
   * @throws ExecutionException when the store refuses or does not answer
   * @throws NodeNotFoundException when the job has ended
   * @throws IllegalArgumentException when the directory is not that of a job
   * @throws Exception as operations of the store do
   */
  public static CrailJob join(CrailStore store, String root) throws Exception {
    CompoundOperation read = CompoundOperation.builder().readLifetime().build();
    long lease = store.operate(root, read).get().orThrow().number(0);
    if (lease < RENEWALS) {
      throw new IllegalArgumentException(root + " has no lease");
    }
    return new CrailJob(store, root, Duration.ofMillis(lease), false);
  }

  private static void makeDirectory(CrailStore store) throws Exception {
    try {
      store
          .createSpread(
              DIRECTORY,
              CrailNodeType.DIRECTORY,
              CrailStorageClass.DEFAULT,
              CrailLocationClass.DEFAULT,
              true)
          .get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeExistsException)) {
        throw e;
      }
    }
    setLease(store);
  }

  /** New jobs have a lease from the beginning, so that none stays whose process dies at once. */
  private static void setLease(CrailStore store) throws Exception {
    CompoundOperation leases =
        CompoundOperation.builder().expireChildren(Lifetime.sinceAccess(LEASE)).build();
    store.operate(DIRECTORY, leases).get().orThrow();
  }

  /** A lookup is an access, which begins the lease again. */
  private void renew() {
    try {
      // Of a short lease there is time for another one then.
      if (store.lookup(root).get(periodMillis, TimeUnit.MILLISECONDS) == null && !lost) {
        lost = true;
        LOG.error("{} has ended: its lease was not renewed in time, or it was removed", root);
      }
      failing = false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception | Error e) {
      // A task that throws would not run again.
      if (!failing && !thread.isShutdown()) {
        LOG.warn("cannot renew the lease of {}; trying again", root, e);
      }
      failing = true;
    }
  }

  /**
   * The directory of the job.
   *
   * @return its path
   */
  public String root() {
    return root;
  }

  /**
   * Whether the directory has ended before the job, as far as is known.
   *
   * @return true once this has looked for it in vain
   */
  public boolean isLost() {
    return lost;
  }

  /**
   * Ends the renewals, and removes the directory if this has begun the job.
   *
   * @throws Exception when the store does not remove it; then its lease ends
   */
  @Override
  public void close() throws Exception {
    thread.shutdownNow();
    thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    if (!isOwner) {
      return;
    }
    try {
      store.delete(root, true).get();
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof NodeNotFoundException)) {
        throw e;
      }
      lost = true;
    }
  }
}
