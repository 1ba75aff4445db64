/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import io.crail.common.LostText;
import io.crail.common.Printable;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Function;

/** Says where the configuration file of a process is, {@code crail-site.conf}. */
public final class SiteFile {
  /** Its name. */
  public static final String NAME = "crail-site.conf";

  private SiteFile() {}

  /**
   * Finds the file: {@code $CRAIL_CONF_DIR/crail-site.conf}, or else {@code
   * $CRAIL_HOME/conf/crail-site.conf}.
   *
   * @param environment returns the value of a variable, or null
   * @return the file, which may not exist; empty when neither variable is set
   * @throws ConfigException for a variable that this host cannot have as a path
   */
  public static Optional<Path> find(Function<String, String> environment) {
    String directory = environment.apply("CRAIL_CONF_DIR");
    if (directory != null && !directory.isEmpty()) {
      return Optional.of(path("CRAIL_CONF_DIR", directory).resolve(NAME));
    }
    String home = environment.apply("CRAIL_HOME");
    if (home != null && !home.isEmpty()) {
      return Optional.of(path("CRAIL_HOME", home).resolve("conf").resolve(NAME));
    }
    return Optional.empty();
  }

  private static Path path(String variable, String directory) {
    try {
      if (!LostText.isIn(directory)) {
        return Path.of(directory);
      }
    } catch (InvalidPathException e) {
      // Falls through to the one message below.
    }
    throw new ConfigException(
        variable + " is no path here: " + Printable.line(directory) + "; " + LostText.CURE);
  }
}
