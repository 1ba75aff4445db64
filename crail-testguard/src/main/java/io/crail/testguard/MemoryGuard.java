/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testguard;

import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails the test during which memory was given back twice, and the class after which Netty finds
 * some that was never given back. Both happen in other threads than the test's, which log them.
 */
public final class MemoryGuard implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(MemoryGuard.class);

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
  public void afterAll(ExtensionContext context) {
    // Netty tells of a buffer that was collected when it gives out the next one.
    System.gc();
    UnpooledByteBufAllocator.DEFAULT.directBuffer(1, 1).release();
    fail(watch(context).take());
  }

  private static void fail(List<String> found) {
    if (!found.isEmpty()) {
      throw new AssertionError(String.join("\n", found));
    }
  }
}
