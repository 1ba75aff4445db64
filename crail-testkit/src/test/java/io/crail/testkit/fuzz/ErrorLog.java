/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.fuzz;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/** The errors logged in this process. Each is a bug. */
final class ErrorLog extends AbstractAppender implements AutoCloseable {
  private final Logger root = (Logger) LogManager.getRootLogger();
  private final List<String> errors = new CopyOnWriteArrayList<>();

  ErrorLog() {
    super("errors", null, null, true, Property.EMPTY_ARRAY);
    start();
    root.addAppender(this);
  }

  @Override
  public void append(LogEvent event) {
    if (event.getLevel().isMoreSpecificThan(Level.ERROR)) {
      errors.add(event.getMessage().getFormattedMessage() + ": " + event.getThrown());
    }
  }

  /** The errors so far. */
  List<String> errors() {
    return errors;
  }

  /** Fails when an error was logged. */
  void requireNone() {
    Require.that(errors.isEmpty(), () -> "logged: " + errors);
  }

  @Override
  public void close() {
    root.removeAppender(this);
    stop();
  }
}
