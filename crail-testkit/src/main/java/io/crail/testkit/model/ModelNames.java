/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.model;

/**
 * The names of a test, and their owners. Each thread of each client owns a directory, a table and a
 * multi-file, with names in each.
 *
 * @param clients the number of processes
 * @param threads the number of threads in each process
 */
public record ModelNames(int clients, int threads) {
  /** Names for each container. The first is the container itself. */
  public static final int PER_CONTAINER = 7;

  /** The containers of a thread. */
  public enum Container {
    /** Holds files. */
    DIRECTORY,
    /** Holds values. */
    TABLE,
    /** Holds files that are read as one. */
    MULTIFILE
  }

  private static final int KINDS = Container.values().length;

  /** The number of names. */
  public int count() {
    return clients * threads * KINDS * PER_CONTAINER;
  }

  /** The name of a container. */
  public int container(int client, int thread, Container container) {
    return ((client * threads + thread) * KINDS + container.ordinal()) * PER_CONTAINER;
  }

  /** The kind of a name's container. */
  public static Container containerOf(int name) {
    return Container.values()[name / PER_CONTAINER % KINDS];
  }

  /** The container of a name; for a container the name itself. */
  public static int top(int name) {
    return name - name % PER_CONTAINER;
  }

  /** The path of a name. */
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
