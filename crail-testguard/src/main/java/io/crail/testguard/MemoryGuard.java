/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testguard;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test when memory is given back twice while it runs. Fails a test class when Netty then
 * finds memory that was never given back. Both are found by other threads than the test's, which
 * log them.
 */
public final class MemoryGuard implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(MemoryGuard.class);

  private static final long COLLECTION_TIMEOUT_MILLIS = 60_000;

  /** Created by JUnit. */
  public MemoryGuard() {}

  private static LogWatch watch(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(LogWatch.class, type -> LogWatch.begin(), LogWatch.class);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    watch(context);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    fail(watch(context).take());
  }

  @Override
  public void afterAll(ExtensionContext context) throws InterruptedException {
    tellOfLeaks();
    fail(watch(context).take());
  }

  /** Makes Netty report all unreachable memory that was not released. */
  static void tellOfLeaks() throws InterruptedException {
    // A JVM thread hands over the objects of a whole collection at once, in any order. When it
    // hands over an object of the second collection, it has finished the first.
    collect();
    collect();
    // Netty processes them when it allocates the next buffer.
    UnpooledByteBufAllocator.DEFAULT.directBuffer(1, 1).release();
  }

  /** Collects garbage, and waits until an object of that collection was handed over. */
  private static void collect() throws InterruptedException {
    ReferenceQueue<Object> collected = new ReferenceQueue<>();
    WeakReference<Object> sentinel = new WeakReference<>(new Object(), collected);
    System.gc();
    if (collected.remove(COLLECTION_TIMEOUT_MILLIS) != sentinel) {
      throw new AssertionError("no garbage was collected, so leaks cannot be found");
    }
  }

  private static void fail(List<String> found) {
    if (!found.isEmpty()) {
      throw new AssertionError(String.join("\n", found));
    }
  }
}
