/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testguard;

import io.crail.common.DoubleReleaseError;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** Searches the log for memory that was given back twice or never. Thread-safe. */
final class LogWatch extends AbstractAppender {
  private final List<String> found = new ArrayList<>();

  private LogWatch() {
    super("memory", null, null, false, Property.EMPTY_ARRAY);
  }

  /** Begins to watch. */
  static LogWatch begin() {
    LogWatch watch = new LogWatch();
    watch.start();
    // Netty warns of errors that its own threads caught. They show nowhere else.
    Logger netty = (Logger) LogManager.getLogger("io.netty");
    netty.setLevel(Level.WARN);
    ((Logger) LogManager.getRootLogger()).addAppender(watch);
    return watch;
  }

  /** The findings since the last call. */
  synchronized List<String> take() {
    List<String> taken = List.copyOf(found);
    found.clear();
    return taken;
  }

  @Override
  public void append(LogEvent event) {
    boolean isLeak =
        event.getLevel() == Level.ERROR
            && event.getLoggerName().equals(ResourceLeakDetector.class.getName());
    if (isLeak || isDoubleRelease(event.getThrown())) {
      String text = event.getMessage().getFormattedMessage();
      synchronized (this) {
        found.add(event.getThrown() == null ? text : text + ": " + event.getThrown());
      }
    }
  }

  private static boolean isDoubleRelease(Throwable thrown) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof IllegalReferenceCountException || cause instanceof DoubleReleaseError) {
        return true;
      }
    }
    return false;
  }
}
