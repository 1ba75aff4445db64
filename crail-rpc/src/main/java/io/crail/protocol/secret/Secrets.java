/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.secret;

import io.crail.common.Clock;
import io.crail.common.Utf8;
import io.crail.common.config.ConfigException;
import io.crail.common.config.Configuration;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.login.LoginKey;
import io.crail.rpc.login.Principal.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The secret file of a process, read again when it has changed. A file that cannot be read later
 * leaves what was read before. Thread-safe.
 */
public final class Secrets {
  /** The name under which namenodes take part, all of which have the same secrets. */
  public static final String NAMENODE = "namenode";

  private static final Logger LOG = LoggerFactory.getLogger(Secrets.class);
  private static final long LOOK_NANOS = 500_000_000L;
  private static final long REST_MILLIS = 1000;
  private static final int MOST_REPLACED = 16;

  private final Path path;
  private final Clock clock;
  private final Deque<Replaced> replaced = new ConcurrentLinkedDeque<>();
  // Of the file as it was read, as it was seen last, and as it was refused. Guarded by this.
  private Stamp read;
  private Stamp seen;
  private Stamp warned;
  private volatile SecretFile current;
  private volatile long nextLookNanos;

  /** What changes with the file, as far as its system says. */
  private record Stamp(Object key, Object changed, long size, long millis) {}

  /** What the file said until then. */
  private record Replaced(SecretFile file, long untilNanos) {}

  private Secrets(Path path, Clock clock) throws IOException {
    this.path = path;
    this.clock = clock;
    this.read = stamp();
    this.seen = read;
    this.warned = read;
    this.current = SecretFile.read(path);
    this.nextLookNanos = clock.nanoTime() + LOOK_NANOS;
  }

  /**
   * The secrets that a configuration names; null if it names none.
   *
   * @throws ConfigException when the file cannot be read, is open to others, or is not valid
   */
  public static Secrets of(Configuration configuration, Clock clock) {
    Path path = SecurityKeys.secretFile(configuration);
    return path == null ? null : open(path, clock);
  }

  /** As {@link #of}, for a file. */
  public static Secrets open(Path path, Clock clock) {
    try {
      return new Secrets(path, clock);
    } catch (IOException e) {
      throw new ConfigException(
          SecurityKeys.SECRET_FILE.name() + ": " + path + " cannot be read: " + e.getMessage());
    }
  }

  private Stamp stamp() throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
    return new Stamp(
        attributes.fileKey(),
        // So that another mode counts too.
        Files.getAttribute(path, "unix:ctime"),
        attributes.size(),
        attributes.lastModifiedTime().toMillis());
  }

  /** What the file says, or said a second ago. The same object as long as it is the same. */
  public SecretFile current() {
    long now = clock.nanoTime();
    if (now - nextLookNanos >= 0) {
      look(now);
    }
    return current;
  }

  /**
   * The keys of the file as it is, and as it was within a time: another process may go on for so
   * long with what it has learnt of this one.
   *
   * @param name the name of this process, where the file leaves the choice
   */
  List<LoginKey> keysWithin(long nanos, Role role, Utf8 name) {
    List<LoginKey> keys = new ArrayList<>(current().keys(role, name));
    long now = clock.nanoTime();
    for (Replaced each : replaced) {
      if (now - each.untilNanos < nanos) {
        keys.addAll(each.file.keys(role, name));
      }
    }
    return keys;
  }

  /** All keys of the file for a role. */
  public List<LoginKey> keys(Role role, String name) {
    return current().keys(role, Utf8.of(name));
  }

  /** Why a key is no longer good; null if it is. */
  public String refusal(LoginKey key) {
    return current().refusal(key);
  }

  /**
   * Requires what a namenode needs.
   *
   * @throws ConfigException when there is no master secret
   */
  public void requireMasters() {
    if (!current().hasMasters()) {
      throw new ConfigException(path + " has no master secret, which a namenode needs");
    }
  }

  private synchronized void look(long nowNanos) {
    if (nowNanos - nextLookNanos < 0) {
      return;
    }
    nextLookNanos = nowNanos + LOOK_NANOS;
    Stamp found = null;
    try {
      found = stamp();
      if (found.equals(read)) {
        return;
      }
      // Whoever writes it may not be done: it is read when it has rested.
      if (found.equals(seen) || clock.currentTimeMillis() - found.millis >= REST_MILLIS) {
        take(SecretFile.read(path), nowNanos);
        read = found;
        LOG.info("{} has changed and was read again", path);
      }
    } catch (IOException | ConfigException e) {
      // Once for each state; a file that is away stays away.
      if (!Objects.equals(found, warned)) {
        LOG.warn("{} has changed and cannot be read; what it said before stays", path, e);
      }
      warned = found;
    } finally {
      seen = found;
    }
  }

  private void take(SecretFile changed, long nowNanos) {
    if (current.hasMasters() && !changed.hasMasters()) {
      throw new ConfigException(path + " has no master secret any more");
    }
    replaced.addFirst(new Replaced(current, nowNanos));
    while (replaced.size() > MOST_REPLACED) {
      replaced.removeLast();
    }
    current = changed;
  }

  /**
   * The key that this process logs in with.
   *
   * @param name its name, where the file leaves the choice
   * @throws CrailException with {@link ErrorCode#UNAUTHENTICATED} when the file has none
   */
  LoginKey key(Role role, Utf8 name) throws CrailException {
    List<LoginKey> keys = current().keys(role, name);
    if (keys.isEmpty()) {
      throw ErrorCode.UNAUTHENTICATED.exception(
          path + " has no key for a " + SecretFile.text(role, Utf8.EMPTY).strip());
    }
    return keys.get(0);
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
