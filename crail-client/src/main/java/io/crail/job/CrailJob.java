/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.job;

import io.crail.CrailLocationClass;
import io.crail.CrailNodeType;
import io.crail.CrailStorageClass;
import io.crail.CrailStore;
import io.crail.common.Threads;
import io.crail.common.error.ErrorCode;
import io.crail.common.error.NodeExistsException;
import io.crail.common.error.NodeNotFoundException;
import io.crail.compound.CompoundOperation;
import io.crail.compound.Lifetime;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
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

  /** The shortest lease, since some renewals may have to be tried again. */
  public static final Duration LEAST_LEASE = Duration.ofSeconds(2);

  private static final Logger LOG = LoggerFactory.getLogger(CrailJob.class);
  private static final int RENEWALS = 4;
  private static final int NAME_LENGTH = 60;
  private static final long CLOSE_SECONDS = 10;

  private final CrailStore store;
  private final String root;
  private final boolean isOwner;
  private final ScheduledExecutorService thread;
  private volatile boolean lost;
  private boolean failing;

  private CrailJob(CrailStore store, String root, Duration lease, boolean isOwner) {
    this.store = store;
    this.root = root;
    this.isOwner = isOwner;
    this.thread = Executors.newSingleThreadScheduledExecutor(Threads.factory("crail-job-lease"));
    long period = lease.toMillis() / RENEWALS;
    thread.scheduleWithFixedDelay(this::renew, period, period, TimeUnit.MILLISECONDS);
  }

  /**
   * Begins a job.
   *
   * @param store the store, which has to stay open until the job is closed
   * @param name a name for people, a part of that of the directory; other characters than letters,
   *     digits, {@code .}, {@code _} and {@code -} are replaced
   * @param lease how long the data stay when the process dies; at least {@link #LEAST_LEASE}
   * @param storageClass the storage class of the data
   * @return the job, whose directory is there
   * @throws ExecutionException when the store refuses or does not answer
   * @throws IllegalArgumentException for a shorter lease
   * @throws Exception as operations of the store do
   */
  public static CrailJob begin(
      CrailStore store, String name, Duration lease, CrailStorageClass storageClass)
      throws Exception {
    requireLease(lease);
    makeDirectory(store);
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
    store.operate(root, expire(Lifetime.sinceAccess(lease))).get().orThrow();
    return new CrailJob(store, root, lease, true);
  }

  /**
   * Keeps a job alive that another process has begun. The end of this does not end the job.
   *
   * @param store the store, which has to stay open until this is closed
   * @param root the directory of the job
   * @param lease the lease with which it was begun
   * @return the job
   * @throws NodeNotFoundException when the job has ended
   * @throws Exception as operations of the store do
   */
  public static CrailJob join(CrailStore store, String root, Duration lease) throws Exception {
    requireLease(lease);
    if (store.lookup(root).get() == null) {
      throw ErrorCode.NODE_NOT_FOUND.exception(root);
    }
    return new CrailJob(store, root, lease, false);
  }

  private static void requireLease(Duration lease) {
    if (lease.compareTo(LEAST_LEASE) < 0) {
      throw new IllegalArgumentException(
          "a lease of " + lease.toMillis() + " ms, must be at least " + LEAST_LEASE.toMillis());
    }
  }

  /** New jobs have a lease from the beginning, so that none stays whose process dies at once. */
  private static void makeDirectory(CrailStore store) throws Exception {
    if (store.lookup(DIRECTORY).get() != null) {
      return;
    }
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
      if (e.getCause() instanceof NodeExistsException) {
        return;
      }
      throw e;
    }
    CompoundOperation leases =
        CompoundOperation.builder().expireChildren(Lifetime.sinceAccess(LEASE)).build();
    store.operate(DIRECTORY, leases).get().orThrow();
  }

  private static CompoundOperation expire(Lifetime lifetime) {
    return CompoundOperation.builder().expire(lifetime).build();
  }

  /** A lookup is an access, which begins the lease again. */
  private void renew() {
    try {
      boolean isThere = store.lookup(root).get() != null;
      if (!isThere && !lost) {
        LOG.error("{} has ended: its lease was not renewed in time, or it was removed", root);
      }
      lost = !isThere;
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
   * @return true after a renewal that has not found it
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
    }
  }
}
