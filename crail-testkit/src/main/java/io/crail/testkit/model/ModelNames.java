/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

import io.crail.common.Utf8;
import io.crail.protocol.part.NodePath;
import java.util.List;
import java.util.Locale;

/**
 * The names of a test, and their owners. Each thread of each client owns a directory, a table and a
 * multi-file, with names in each. With several namenodes, half of these directories and tables are
 * spread, and there is one spread directory and one spread table of all threads: each owns some
 * names there, and the first thread of the first client owns the container.
 *
 * @param clients the number of processes
 * @param threads the number of threads in each process
 * @param namenodes the number of namenodes
 */
public record ModelNames(int clients, int threads, int namenodes) {
  /** Names of a thread for each kind. The first is the container itself, if the thread owns it. */
  public static final int PER_CONTAINER = 7;

  private static final List<Container> KINDS = List.of(Container.values());

  /** The kinds of containers. */
  public enum Container {
    /** Holds files. */
    DIRECTORY,
    /** Holds values. */
    TABLE,
    /** Holds files that are read as one. */
    MULTIFILE,
    /** Holds files of all threads. */
    SHARED_DIRECTORY,
    /** Holds values of all threads. */
    SHARED_TABLE;

    /** True when all threads have names in it. */
    public boolean isShared() {
      return this == SHARED_DIRECTORY || this == SHARED_TABLE;
    }

    /** True when it holds values. */
    public boolean isTable() {
      return this == TABLE || this == SHARED_TABLE;
    }
  }

  /** The kinds that there are. */
  public List<Container> kinds() {
    return namenodes > 1 ? KINDS : KINDS.subList(0, Container.SHARED_DIRECTORY.ordinal());
  }

  /** The number of names. */
  public int count() {
    return clients * threads * kinds().size() * PER_CONTAINER;
  }

  /** The first name of a kind that a thread has. */
  public int first(int client, int thread, Container kind) {
    return ((client * threads + thread) * kinds().size() + kind.ordinal()) * PER_CONTAINER;
  }

  /** The first name of the kind and the thread of a name. */
  public int first(int name) {
    return name - name % PER_CONTAINER;
  }

  /** The kind of a name's container. */
  public Container kindOf(int name) {
    return KINDS.get(name / PER_CONTAINER % kinds().size());
  }

  private int ownerOf(int name) {
    return name / PER_CONTAINER / kinds().size();
  }

  /** The container of a name; for a container the name itself. */
  public int container(int name) {
    return kindOf(name).isShared() ? first(0, 0, kindOf(name)) : first(name);
  }

  /** True for a container. */
  public boolean isContainer(int name) {
    return container(name) == name;
  }

  /**
   * True for names that nothing is known of: those that {@link #wild} gives, in a shared container.
   */
  public boolean isWild(int name) {
    return first(name) == name && !isContainer(name);
  }

  /** True for a spread container, and for names in it. */
  public boolean isSpread(int name) {
    Container kind = kindOf(name);
    int owner = ownerOf(name);
    boolean isEverySecond = (owner / threads + owner % threads) % 2 == 1;
    return namenodes > 1 && (kind.isShared() || kind != Container.MULTIFILE && isEverySecond);
  }

  /** The namenode that holds a name. */
  public int namenodeOf(int name) {
    String path = path(name);
    boolean isAtShare = isSpread(name) && !isContainer(name);
    String deciding = isAtShare ? path.substring(path.lastIndexOf('/')) : path;
    return NodePath.namenodeOf(Utf8.of(deciding), namenodes);
  }

  /** The path of a name. */
  public String path(int name) {
    Container kind = kindOf(name);
    int owner = ownerOf(name);
    String number = owner / threads + "-" + owner % threads;
    int index = name % PER_CONTAINER;
    String word = kind.name().toLowerCase(Locale.ROOT);
    if (kind.isShared()) {
      String top = "/" + word.replace('_', '-');
      String below = index == 0 ? number : number + "." + index;
      return isContainer(name) ? top : top + "/" + below;
    }
    String top = "/" + word.charAt(0) + number;
    return index == 0 ? top : top + "/" + index;
  }

  /**
   * One of a few paths in a shared container that a thread may use for anything, at any time.
   *
   * @param name a name of the thread in that container
   */
  public String wild(int name, int index) {
    int owner = ownerOf(name);
    return path(container(name)) + "/wild" + owner / threads + "-" + owner % threads + "." + index;
  }

  /** True for a path of {@link #wild}. */
  public static boolean isWild(String path) {
    return path.substring(path.lastIndexOf('/')).startsWith("/wild");
  }
}
