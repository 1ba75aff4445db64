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

/** The errors that are logged in this process: each is a bug that somebody has run into. */
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

  /** What was logged so far. */
  List<String> errors() {
    return errors;
  }

  /** Fails when something was logged. */
  void requireNone() {
    Require.that(errors.isEmpty(), () -> "logged: " + errors);
  }

  @Override
  public void close() {
    root.removeAppender(this);
    stop();
  }
}
