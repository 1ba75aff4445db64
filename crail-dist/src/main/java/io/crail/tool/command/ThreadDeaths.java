/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.common.Threads;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.Thread.UncaughtExceptionHandler;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process of a server when one of its threads dies of an exception that nothing has
 * caught. A server that lacks a thread looks alive and is not; a supervisor starts one again that
 * has ended. After an error of the virtual machine, such as a full heap, the process ends at once;
 * otherwise it cleans up first.
 */
public final class ThreadDeaths implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ThreadDeaths.class);

  private static final FileOutputStream STDERR = new FileOutputStream(FileDescriptor.err);
  private static final byte[] LAST_WORDS =
      "crail: a thread died of an error of the JVM, such as OutOfMemoryError; this process ends\n"
          .getBytes(StandardCharsets.US_ASCII);

  private final UncaughtExceptionHandler former = Thread.getDefaultUncaughtExceptionHandler();

  private ThreadDeaths() {}

  /** Ends the process from now on when a thread dies, until this is closed. */
  public static ThreadDeaths endTheProcess() {
    ThreadDeaths deaths = new ThreadDeaths();
    Threads.Guard guard = ThreadDeaths::died;
    Thread.setDefaultUncaughtExceptionHandler(guard);
    return deaths;
  }

  private static void died(Thread thread, Throwable cause) {
    if (cause instanceof VirtualMachineError) {
      sayWithoutMemory();
    }
    try {
      LOG.error("the thread {} has died, so this process ends", thread.getName(), cause);
    } finally {
      if (cause instanceof VirtualMachineError) {
        Runtime.getRuntime().halt(ExitCode.DEAD_THREAD);
      }
      // Waits for the hooks, which wait no longer than a limit.
      Runtime.getRuntime().exit(ExitCode.DEAD_THREAD);
    }
  }

  /** Allocates nothing, since there may be no memory for a log line. */
  private static void sayWithoutMemory() {
    try {
      STDERR.write(LAST_WORDS);
    } catch (IOException e) {
      // Then the exit code alone says it.
    }
  }

  @Override
  public void close() {
    Thread.setDefaultUncaughtExceptionHandler(former);
  }
}
