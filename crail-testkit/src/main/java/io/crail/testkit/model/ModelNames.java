/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

/**
 * Which names there are, and who owns them: each thread of each client has a directory, a table and
 * a multi-file, with names in each.
 *
 * @param clients processes
 * @param threads of each of them
 */
public record ModelNames(int clients, int threads) {
  /** Names in a container, of which the first is its own. */
  public static final int PER_CONTAINER = 7;

  /** What a thread has. */
  public enum Container {
    /** Of files. */
    DIRECTORY,
    /** Of values. */
    TABLE,
    /** Of files that are read as one. */
    MULTIFILE
  }

  private static final int KINDS = Container.values().length;

  /** All names. */
  public int count() {
    return clients * threads * KINDS * PER_CONTAINER;
  }

  /** The name of a container. */
  public int container(int client, int thread, Container container) {
    return ((client * threads + thread) * KINDS + container.ordinal()) * PER_CONTAINER;
  }

  /** What a name's container is. */
  public static Container containerOf(int name) {
    return Container.values()[name / PER_CONTAINER % KINDS];
  }

  /** The container of a name, or itself. */
  public static int top(int name) {
    return name - name % PER_CONTAINER;
  }

  /** The path. */
  public String path(int name) {
    int owner = name / PER_CONTAINER / KINDS;
    String top =
        "/"
            + containerOf(name).name().toLowerCase(java.util.Locale.ROOT).charAt(0)
            + owner / threads
            + "-"
            + owner % threads;
    int index = name % PER_CONTAINER;
    return index == 0 ? top : top + "/" + index;
  }
}
