/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.tool.command;

import io.crail.cache.CacheFileSystem;
import io.crail.common.Printable;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.config.SiteFile;
import io.crail.protocol.ClusterKeys;
import io.crail.storage.StorageKeys;
import io.crail.storage.StorageTier;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** The surroundings of a command: its output, options and configuration. Used by one thread. */
public final class CommandContext {
  /** Keys whose names a user completes. Only a file system of Hadoop reads them. */
  private static final List<String> COMPLETED =
      List.of(
          CacheFileSystem.SOURCE_KEY,
          CacheFileSystem.IMPLEMENTATION_KEY,
          CacheFileSystem.BUDGET_KEY);

  private static final Predicate<String> CRAILS =
      key -> Configuration.isCrailKey(key) && COMPLETED.stream().noneMatch(key::startsWith);

  private final ResultStream out;
  private final PrintStream err;
  private final CommonOptions options;
  private final Function<String, String> environment;

  /** Warnings that the user has seen. */
  private final Set<String> warned;

  /**
   * Creates a context.
   *
   * @param environment gives an environment variable's value, or null
   */
  public CommandContext(
      ResultStream out,
      PrintStream err,
      CommonOptions options,
      Function<String, String> environment) {
    this(out, err, options, environment, new HashSet<>());
  }

  private CommandContext(
      ResultStream out,
      PrintStream err,
      CommonOptions options,
      Function<String, String> environment,
      Set<String> warned) {
    this.out = out;
    this.err = err;
    this.options = options;
    this.environment = environment;
    this.warned = warned;
  }

  /** The same context, but only with the settings of Crail's keys. */
  public CommandContext withCrailSettings() {
    return new CommandContext(out, err, options.withSettings(CRAILS), environment, warned);
  }

  /**
   * The settings that a command passes on to Hadoop: those of all other keys. If the command line
   * names a user, they contain it; otherwise the user is Hadoop's.
   */
  public Map<String, String> hadoopSettings() {
    return options
        .withSettings(CRAILS.negate().or(ClusterKeys.USER.name()::equalsIgnoreCase))
        .settings();
  }

  /** The settings of Crail's keys on the command line. */
  public Map<String, String> crailSettings() {
    return options.withSettings(CRAILS).settings();
  }

  /** The stream for results. */
  public PrintStream out() {
    return out;
  }

  /** Prints how a server stands; if no one reads it, the server goes on. */
  public void announce(String line) {
    out.announce(line);
  }

  /** The stream for everything else. */
  public PrintStream err() {
    return err;
  }

  /** Whether {@link #err} is a terminal, as the launcher says; the JVM itself cannot know. */
  public boolean hasTerminal() {
    return Boolean.getBoolean("crail.terminal");
  }

  /** Whether {@link #out} is a terminal, as the launcher says. */
  public boolean writesToTerminal() {
    return Boolean.getBoolean("crail.terminal.out");
  }

  /**
   * Asks the user, if there is a terminal. Only {@code y} and {@code yes} mean yes; without a
   * terminal the answer is no.
   */
  public boolean confirms(String question) throws IOException {
    if (!hasTerminal() || !Boolean.getBoolean("crail.terminal.in")) {
      return false;
    }
    out.flush();
    err.print(question + " [y/N] ");
    err.flush();
    String answer =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    return answer != null && answer.strip().toLowerCase(Locale.ROOT).matches("y|yes");
  }

  /** The colours for {@link #out}. */
  public Colours colours() {
    return Colours.of(writesToTerminal(), environment.apply("NO_COLOR"));
  }

  /** The value of an environment variable, or null. */
  public String variable(String name) {
    return environment.apply(name);
  }

  /** The options that every command has. */
  public CommonOptions options() {
    return options;
  }

  /** The configuration file, which may not exist. Null when nothing says where it is. */
  public Path file() {
    if (options.file() != null) {
      return options.file();
    }
    return SiteFile.find(environment).orElse(null);
  }

  /**
   * Reads the configuration: defaults, then the file, then the options. Says once what became of
   * keys of Apache Crail.
   *
   * @throws ConfigException that names the bad key or value and where it was set
   */
  public Configuration configuration() {
    Configuration.Builder builder = Configuration.builder();
    Path file = file();
    if (options.file() != null) {
      checkNamed(file);
    }
    if (file != null && (options.file() != null || Files.exists(file))) {
      builder.load(file, environment);
    } else if (file != null
        && !options.embedded()
        && options.settings().isEmpty()
        && warned.add(file.toString())) {
      err.println(
          "crail: warning: there is no "
              + Printable.line(file.toString())
              + ", so every key has its default; CRAIL_CONF_DIR or --conf name another place");
    }
    options.settings().forEach((key, value) -> builder.set(key, value, "the command line"));
    Configuration configuration = builder.build();
    // Checked here and not with the key, since other programs may have only the tiers that they use
    // on their class path.
    configuration.get(StorageKeys.TYPES).forEach(StorageTier::find);
    configuration.warnings().stream()
        .filter(warned::add)
        .forEach(warning -> err.println("crail: warning: " + Printable.line(warning)));
    return configuration;
  }

  /** Refuses what {@code --conf} names if that is no file, with what to write instead. */
  private static void checkNamed(Path file) {
    String name = Printable.line(file.toString());
    if (Files.isDirectory(file)) {
      boolean hasFile = Files.exists(file.resolve(SiteFile.NAME));
      throw new ConfigException(
          "--conf takes a file, and "
              + name
              + " is a directory"
              + (hasFile
                  ? "; write --conf " + Printable.line(file.resolve(SiteFile.NAME).toString())
                  : " without " + SiteFile.NAME + "; name the file of your cluster"));
    }
    if (!Files.exists(file)) {
      throw new ConfigException(
          "no such file: " + name + "; --conf takes a file such as conf/" + SiteFile.NAME);
    }
  }

  /**
   * The settings, as {@code key=value}, for a command that starts clusters of its own.
   *
   * @throws UsageException when there is a configuration file, which no such command reads
   * @throws ConfigException that names a bad key or value, before anything is started
   */
  public List<String> ownClusterSettings() throws UsageException {
    if (options.file() != null) {
      throw new UsageException("it starts clusters of its own, and reads no --conf");
    }
    Configuration.Builder builder = Configuration.builder();
    options.settings().forEach((key, value) -> builder.set(key, value, "the command line"));
    builder.build();
    return options.settings().entrySet().stream()
        .map(setting -> setting.getKey() + "=" + setting.getValue())
        .toList();
  }

  /** True when the file or the options say where the namenodes are. */
  boolean namesCluster(Configuration configuration) {
    return configuration.isSet(ClusterKeys.NAMENODE_ADDRESS);
  }
}
