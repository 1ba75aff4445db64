/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.common.config;

import io.crail.common.LostText;
import io.crail.common.Suggestion;
import io.crail.common.config.ApacheKeys.ApacheKey;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A frozen set of values, checked against the keys on the class path. Immutable and thread-safe.
 * Several configurations may exist in one JVM.
 *
 * <p>One file serves a whole cluster, but a program has only some modules of Crail on its class
 * path. So a key of Crail that no module here declares is kept as text. Only the modules that
 * declare it read it.
 *
 * <p>The file format is that of Apache Crail. Each line is {@code key value} or {@code key=value};
 * {@code #} begins a comment, at the beginning of a line or after white space; {@code $NAME} and
 * {@code ${NAME}} are replaced from the environment, {@code $$} by one {@code $}. The letter case
 * of a key does not matter, since Apache Crail writes some keys with capitals.
 */
public final class Configuration {
  private static final String PREFIX = "crail.";

  private static final String RPC_TYPE = "crail.namenode.rpctype";

  private static final String SECRET_LINE = " " + ConfigType.SECRET.label();

  /** The names of all keys of Crail. Keys that others declare are not in it. */
  private static final Set<String> NAMES;

  /** Those of them whose values are never shown, whether they are declared here or not. */
  private static final Set<String> SECRETS;

  static {
    // A name a line, followed by the word for secrets if it is one.
    List<String> lines = lines();
    NAMES = lines.stream().map(line -> line.split(" ")[0]).collect(Collectors.toUnmodifiableSet());
    SECRETS =
        lines.stream()
            .filter(line -> line.endsWith(SECRET_LINE))
            .map(line -> line.split(" ")[0])
            .collect(Collectors.toUnmodifiableSet());
  }

  private final Map<String, Object> values;
  private final Map<String, String> texts;
  private final Map<String, String> origins;
  private final List<String> warnings;

  private Configuration(
      Map<String, Object> values,
      Map<String, String> texts,
      Map<String, String> origins,
      List<String> warnings) {
    this.values = values;
    this.texts = texts;
    this.origins = origins;
    this.warnings = warnings;
  }

  private static List<String> lines() {
    try (InputStream in = Configuration.class.getResourceAsStream("keys.txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new AssertionError("the list of keys is broken", e);
    }
  }

  /**
   * Returns whether a key belongs to Crail, where keys of others have the same source.
   *
   * @param written as a user writes it
   * @return whether it does
   */
  public static boolean isCrailKey(String written) {
    return ConfigKey.nameOf(written).startsWith(PREFIX);
  }

  /**
   * Returns whether Crail has keys whose names begin so, in this program or in others.
   *
   * @param prefix the beginning, in lower case
   * @return whether it has
   */
  public static boolean hasKeysBelow(String prefix) {
    return NAMES.stream().anyMatch(name -> name.startsWith(prefix));
  }

  /** {@return a configuration in which every key has its default} */
  public static Configuration defaults() {
    return builder().build();
  }

  /** {@return an empty builder} */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns the value of a key, or its default.
   *
   * @param <T> the Java type of the value
   * @param key the key
   * @return the value
   */
  @SuppressWarnings("unchecked")
  public <T> T get(ConfigKey<T> key) {
    Object value = values.get(key.name());
    return value != null ? (T) value : key.parse(key.defaultText());
  }

  /**
   * Returns whether the user has set a key.
   *
   * @param key the key
   * @return true for any value that was set, even the default
   */
  public boolean isSet(ConfigKey<?> key) {
    return values.containsKey(key.name());
  }

  /**
   * {@return the text of each value that the user has set, by the name of its key; sorted} Secrets
   * are among them; {@link #shownTexts} is for people and files.
   */
  public Map<String, String> texts() {
    return new TreeMap<>(texts);
  }

  /**
   * {@return the value of each key that has another one than its default, by the name of the key;
   * of a key that no module here declares, its text} Configurations in which these are equal mean
   * the same, however they are written. Secrets are among them.
   */
  public Map<String, Object> differences() {
    Map<String, Object> differing = new TreeMap<>(texts);
    for (ConfigKeys room : declarations()) {
      for (ConfigKey<?> key : room.keys()) {
        if (get(key).equals(key.parse(key.defaultText()))) {
          differing.remove(key.name());
        } else {
          differing.put(key.name(), get(key));
        }
      }
    }
    return differing;
  }

  /**
   * {@return where each value was set that the user has set, by the name of its key, such as {@code
   * conf/crail-site.conf:3}}
   */
  public Map<String, String> origins() {
    return origins;
  }

  /** {@return {@link #texts} with what may be shown of each value} */
  public Map<String, String> shownTexts() {
    Map<String, String> shown = texts();
    for (String name : SECRETS) {
      shown.computeIfPresent(name, (key, text) -> ConfigType.SECRET.shown(text));
    }
    for (ConfigKeys room : declarations()) {
      for (ConfigKey<?> key : room.keys()) {
        shown.computeIfPresent(key.name(), (name, text) -> key.type().shown(text));
      }
    }
    return shown;
  }

  /**
   * {@return what became of keys of Apache Crail that were set, with the place where each was set;
   * copies of this configuration say nothing more of them}
   */
  public List<String> warnings() {
    return warnings;
  }

  /** {@return a builder that starts with the values of this configuration} */
  public Builder toBuilder() {
    Builder builder = new Builder();
    texts.forEach((name, text) -> builder.set(name, text, origins.get(name)));
    return builder;
  }

  /** {@return all key declarations on the class path, module by module} */
  public static List<ConfigKeys> declarations() {
    List<ConfigKeys> rooms = new ArrayList<>();
    ServiceLoader.load(ConfigKeys.class, Configuration.class.getClassLoader()).forEach(rooms::add);
    rooms.sort((a, b) -> a.title().compareTo(b.title()));
    return rooms;
  }

  /** Collects values. Not thread-safe. */
  public static final class Builder {
    private record Setting(String text, String origin) {}

    private final Map<String, Setting> settings = new LinkedHashMap<>();

    private Builder() {}

    /**
     * Sets a value and replaces an earlier one.
     *
     * @param name the full name of the key
     * @param text the value as a user writes it
     * @param origin where the value comes from, for messages ("--set", "the program", a file)
     * @return this
     */
    public Builder set(String name, String text, String origin) {
      settings.put(ConfigKey.nameOf(name), new Setting(text.strip(), origin));
      return this;
    }

    /**
     * Sets the value of a declared key.
     *
     * @param key the key
     * @param value the value
     * @return this
     */
    public Builder set(ConfigKey<?> key, Object value) {
      return set(key.name(), String.valueOf(value), "the program");
    }

    /**
     * Reads a file.
     *
     * @param file the file
     * @param environment returns the value of a variable, or null when it is not set
     * @return this
     * @throws ConfigException for a file that cannot be read or is not UTF-8, an invalid line, a
     *     variable that is not set, or a key that occurs twice
     */
    public Builder load(Path file, Function<String, String> environment) {
      SiteLines.read(file, environment, this::set);
      return this;
    }

    /**
     * Checks and freezes the values.
     *
     * @return the configuration
     * @throws ConfigException that names the first unknown key or invalid value, and where it was
     *     set
     */
    public Configuration build() {
      Map<String, ConfigKey<?>> known = new TreeMap<>();
      for (ConfigKeys room : declarations()) {
        for (ConfigKey<?> key : room.keys()) {
          ConfigKey<?> twin = known.put(key.name(), key);
          if (twin != null && twin != key) {
            throw new AssertionError("configuration key declared twice: " + key.name());
          }
        }
      }
      Map<String, Object> values = new HashMap<>();
      Map<String, String> texts = new HashMap<>();
      Map<String, String> origins = new HashMap<>();
      List<String> warnings = new ArrayList<>();
      translated(warnings)
          .forEach(
              (name, setting) -> {
                ConfigKey<?> key = known.get(name);
                if (key == null && NAMES.contains(name)) {
                  texts.put(name, setting.text);
                  origins.put(name, setting.origin);
                  return;
                }
                if (key == null) {
                  throw new ConfigException(
                      setting.origin
                          + ": unknown key '"
                          + name
                          + "'"
                          + suggestion(name, known.keySet()));
                }
                try {
                  refuseLost(setting.text);
                  values.put(name, key.parse(setting.text));
                } catch (IllegalArgumentException e) {
                  throw new ConfigException(
                      setting.origin
                          + ": key '"
                          + name
                          + "' has the bad value '"
                          + key.type().shown(setting.text)
                          + "': "
                          + e.getMessage(),
                      e);
                }
                texts.put(name, setting.text);
                origins.put(name, setting.origin);
              });
      return new Configuration(
          Map.copyOf(values), Map.copyOf(texts), Map.copyOf(origins), List.copyOf(warnings));
    }

    /**
     * The settings with the names and values of this Crail. A value that is set by the own name of
     * a key has precedence, wherever it is set.
     *
     * @param warnings gets what became of keys of Apache Crail
     */
    private Map<String, Setting> translated(List<String> warnings) {
      Map<String, Setting> own = new LinkedHashMap<>();
      Map<String, Setting> moved = new LinkedHashMap<>();
      settings.forEach(
          (name, setting) -> {
            ApacheKey former = ApacheKeys.find(name);
            if (former == null) {
              own.put(name, setting);
              return;
            }
            String key = setting.origin + ": key '" + name + "'";
            if (former.refuses(setting.text)) {
              throw new ConfigException(
                  key + " of Apache Crail cannot be '" + setting.text + "' here: " + former.now());
            }
            String text = former.translate(setting.text);
            if (text == null || (former.isForDarpcOnly() && !usesDarpc())) {
              warnings.add(
                  key
                      + " of Apache Crail has no effect with the value '"
                      + setting.text
                      + "': "
                      + former.now());
              return;
            }
            boolean same = former.key().equals(name);
            Setting here = settings.get(former.key());
            if (!same && here != null) {
              warnings.add(
                  key
                      + " of Apache Crail has no effect, since '"
                      + former.key()
                      + "' is set: "
                      + here.origin);
            } else if (!same) {
              warnings.add(
                  key
                      + " of Apache Crail is '"
                      + former.key()
                      + " "
                      + text
                      + "' here: "
                      + former.now());
            }
            (same ? own : moved).put(former.key(), new Setting(text, setting.origin));
          });
      moved.forEach(own::putIfAbsent);
      return own;
    }

    private static void refuseLost(String text) {
      if (LostText.isIn(text)) {
        throw new IllegalArgumentException("was no UTF-8; " + LostText.CURE);
      }
    }

    private boolean usesDarpc() {
      Setting type = settings.get(RPC_TYPE);
      return type != null && "darpc".equals(ApacheKeys.find(RPC_TYPE).translate(type.text));
    }

    private static String suggestion(String name, Set<String> declared) {
      Set<String> known = new TreeSet<>(NAMES);
      known.addAll(declared);
      return Suggestion.of(name, known);
    }
  }
}
