/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.ProcessUser;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.protocol.part.TextLimits;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What a secret file says, a line for each secret:
 *
 * <pre>
 * master &lt;id&gt; &lt;base64&gt;
 * user|datanode|namenode &lt;name&gt; &lt;version&gt; &lt;id of the master&gt; &lt;base64&gt;
 * revoke user|datanode|namenode &lt;name&gt; &lt;version&gt;
 * </pre>
 *
 * <p>Namenodes have master secrets, from which all keys are derived: there is no list of users. The
 * first one makes new keys, and all are good for logins. Others have keys of their own. A line
 * {@code revoke} revokes that key and all lower versions. Immutable.
 */
public final class SecretFile {
  /** The version of a key that a process derives for itself from a master secret that it has. */
  static final int OWN_VERSION = 0;

  /** Most bytes of a file that is read. */
  static final long MOST_BYTES = 1 << 20;

  private static final int MOST_ID = 64;
  private static final Pattern WORD = Pattern.compile("\\S+");
  private static final Set<PosixFilePermission> OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE,
          PosixFilePermission.OTHERS_EXECUTE);

  private final String place;
  private final List<Master> masters = new ArrayList<>();
  private final List<LoginKey> keys = new ArrayList<>();
  private final List<Revoked> revoked = new ArrayList<>();

  private record Master(Utf8 id, byte[] bytes) {
    @Override
    public String toString() {
      return id.toString();
    }
  }

  private record Revoked(Role role, Utf8 name, int version) {}

  private SecretFile(String place) {
    this.place = place;
  }

  /**
   * Reads a file.
   *
   * @throws ConfigException when others may read it, or it is not valid; names the line
   * @throws IOException when it cannot be read
   */
  static SecretFile read(Path file) throws IOException {
    // Follows links, as a mounted secret of Kubernetes is one.
    int owner = (int) Files.getAttribute(file, "unix:uid");
    Set<PosixFilePermission> open = EnumSet.copyOf(OTHERS);
    if (owner != 0) {
      open.add(PosixFilePermission.GROUP_READ);
    }
    open.retainAll(Files.getPosixFilePermissions(file));
    if (!open.isEmpty()) {
      throw new ConfigException(
          file + " is open to other users of this host (" + open + "): chmod 600 " + file);
    }
    if (owner != ProcessUser.id() && owner != 0) {
      throw new ConfigException(
          file + " belongs to user " + Integer.toUnsignedString(owner) + ", neither root nor own");
    }
    if (Files.size(file) > MOST_BYTES) {
      throw new ConfigException(file + " has more than " + MOST_BYTES + " bytes");
    }
    return parse(Files.readString(file), file.toString());
  }

  /**
   * Parses the text of a file.
   *
   * @param place where it is from, for messages
   * @throws ConfigException when it is not valid; names the line, and none of its secrets
   */
  static SecretFile parse(String text, String place) {
    SecretFile file = new SecretFile(place);
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      String trimmed = line.strip();
      if (!trimmed.isEmpty() && !trimmed.startsWith("#")) {
        try {
          file.add(trimmed.split("\\s+"));
        } catch (IllegalArgumentException e) {
          throw new ConfigException(place + ", line " + number + ": " + e.getMessage());
        }
      }
    }
    return file;
  }

  private void add(String[] words) {
    switch (words[0]) {
      case "master" -> {
        requireWords(words, 3);
        Master master = new Master(id(words[1]), secret(words[2]));
        if (masters.stream().anyMatch(each -> each.id.equals(master.id))) {
          throw new IllegalArgumentException("a second master '" + master.id + "'");
        }
        masters.add(master);
      }
      case "revoke" -> {
        requireWords(words, 4);
        Role role = role(words[1]);
        revoked.add(new Revoked(role, name(words[2]), version(words[3])));
      }
      default -> {
        Role role = role(words[0]);
        requireWords(words, 5);
        keys.add(
            new LoginKey(role, name(words[1]), version(words[2]), id(words[3]), secret(words[4])));
      }
    }
  }

  private static void requireWords(String[] words, int count) {
    if (words.length != count) {
      throw new IllegalArgumentException(
          "'" + words[0] + "' with " + words.length + " words, not " + count);
    }
  }

  private static Utf8 id(String text) {
    if (text.length() > MOST_ID || !WORD.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "the id '" + text + "' is not 1 to " + MOST_ID + " characters without blanks");
    }
    return Utf8.of(text);
  }

  private static Utf8 name(String text) {
    Utf8 name = Utf8.of(text);
    String wrong =
        WORD.matcher(text).matches() ? TextLimits.checkUser(name) : "empty, or has blanks";
    if (wrong != null) {
      throw new IllegalArgumentException("name '" + text + "': " + wrong);
    }
    return name;
  }

  private static int version(String text) {
    int version;
    try {
      version = Integer.parseInt(text);
    } catch (NumberFormatException e) {
      version = -1;
    }
    if (version < 1) {
      throw new IllegalArgumentException("'" + text + "' is no version of a key: 1 or more");
    }
    return version;
  }

  private static byte[] secret(String base64) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(base64);
    } catch (IllegalArgumentException e) {
      bytes = new byte[0];
    }
    if (bytes.length != LoginKey.LENGTH) {
      // Without the text itself, which may be most of a secret.
      throw new IllegalArgumentException(
          "the secret is not " + LoginKey.LENGTH + " bytes in base64");
    }
    return bytes;
  }

  private static Role role(String word) {
    return switch (word) {
      case "user" -> Role.CLIENT;
      case "datanode" -> Role.DATANODE;
      case "namenode" -> Role.NAMENODE;
      default ->
          throw new IllegalArgumentException(
              "'" + word + "' where master, user, datanode, namenode or revoke is expected");
    };
  }

  private static String word(Role role) {
    return role == Role.CLIENT ? "user" : role.name().toLowerCase(Locale.ROOT);
  }

  /** How a holder is called in messages. */
  static String text(Role role, Utf8 name) {
    return word(role) + " " + name;
  }

  /** A new line with a master secret. */
  public static String newMaster(String id, SecureRandom random) {
    byte[] bytes = new byte[LoginKey.LENGTH];
    random.nextBytes(bytes);
    return "master " + id(id) + " " + Base64.getEncoder().encodeToString(bytes);
  }

  /** The line with a key, for the file of its holder. */
  public static String line(LoginKey key) {
    return word(key.role())
        + " "
        + key.name()
        + " "
        + key.version()
        + " "
        + key.master()
        + " "
        + Base64.getEncoder().encodeToString(key.bytes());
  }

  /** Where it is. */
  public String place() {
    return place;
  }

  /** Whether it has master secrets. */
  public boolean hasMasters() {
    return !masters.isEmpty();
  }

  /**
   * A new key of a holder, made from the first master secret, which there must be.
   *
   * @throws ConfigException when the name or the version is not valid
   */
  public LoginKey newKey(String role, String name, int version) {
    try {
      return derive(
          role(role), name(name), version(Integer.toString(version)), masters.get(0).id());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(e.getMessage());
    }
  }

  /** The key of a holder; null if the master secret is not here. */
  LoginKey derive(Role role, Utf8 name, int version, Utf8 master) {
    for (Master each : masters) {
      if (each.id.equals(master)) {
        byte[] label = SecretMessage.label("key " + text(role, name) + " " + version);
        byte[] bytes = LoginKey.macBy(each.bytes, label);
        return new LoginKey(role, name, version, master, bytes);
      }
    }
    return null;
  }

  /**
   * The keys that a process of this file can log in with as a part of the cluster, the first one
   * first. With a master secret it can log in under any name.
   *
   * @param name the name that it takes then
   */
  List<LoginKey> keys(Role role, Utf8 name) {
    List<LoginKey> found =
        new ArrayList<>(keys.stream().filter(key -> key.role() == role).toList());
    masters.forEach(each -> found.add(derive(role, name, OWN_VERSION, each.id)));
    return found;
  }

  /** Why a key is no longer good; null if it is. */
  String refusal(LoginKey key) {
    if (masters.stream().noneMatch(each -> each.id.equals(key.master()))) {
      return "the master secret '" + key.master() + "' is no longer known";
    }
    for (Revoked each : revoked) {
      if (each.role == key.role()
          && each.name.equals(key.name())
          && key.version() != OWN_VERSION
          && key.version() <= each.version) {
        return "key " + key.version() + " of " + text(key.role(), key.name()) + " is revoked";
      }
    }
    return null;
  }

  /** Without secrets. */
  @Override
  public String toString() {
    return place + " with masters " + Arrays.toString(masters.toArray()) + ", keys " + keys;
  }
}
