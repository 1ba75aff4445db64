/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

/** What the namenode needs as long as it serves, such as the log of its changes. */
interface Keeper extends AutoCloseable {
  /** Nothing. */
  Keeper NONE =
      new Keeper() {
        @Override
        public boolean tick(NameNode namenode) {
          return true;
        }

        @Override
        public void close() {}
      };

  /** How the peers of the namenode stand. */
  default Leadership leadership() {
    return Leadership.ALONE;
  }

  /**
   * Does the periodic work. Returns whether changes may be made.
   *
   * @param namenode the one that serves
   */
  boolean tick(NameNode namenode);

  @Override
  void close();
}
