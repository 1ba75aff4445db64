/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** The warnings of the NVMf tier in this process. */
final class LoggedWarnings extends AbstractAppender implements AutoCloseable {
  private static final String TIER = "io.crail.storage.nvmf";

  private final Logger root = (Logger) LogManager.getRootLogger();
  private final Level before = LogManager.getLogger(TIER).getLevel();
  private final List<String> warnings = new CopyOnWriteArrayList<>();

  LoggedWarnings() {
    super("warnings", null, null, true, Property.EMPTY_ARRAY);
    start();
    Configurator.setLevel(TIER, Level.WARN);
    root.addAppender(this);
  }

  @Override
  public void append(LogEvent event) {
    if (event.getLoggerName().startsWith(TIER)) {
      warnings.add(event.getMessage().getFormattedMessage());
    }
  }

  /** How many contain these words. */
  long count(String words) {
    return warnings.stream().filter(each -> each.contains(words)).count();
  }

  @Override
  public void close() {
    root.removeAppender(this);
    Configurator.setLevel(TIER, before);
    stop();
  }
}
