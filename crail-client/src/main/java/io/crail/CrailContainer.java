/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import io.crail.common.error.MissingNamenode;
import java.util.Iterator;
import java.util.function.Consumer;

/** A node with children. */
public interface CrailContainer extends CrailNode {
  /**
   * Asks the store for the number of children. The number includes children that are not
   * enumerable, so it may be greater than the number of listed children. An error comes as {@link
   * java.io.UncheckedIOException}; for the root and for a spread container also when one namenode
   * is down.
   *
   * @return the number of children now
   */
  int files();

  /**
   * Returns whether the children are spread over all namenodes, see {@link
   * CrailStore#createSpread}.
   *
   * @return true for a spread directory or table
   */
  boolean isSpread();

  /**
   * Lists the full paths of the enumerable children. The iterator asks the store page by page,
   * while the paths are consumed. A child that exists from beginning to end is listed once; a child
   * that is created or removed meanwhile may be listed or not. With {@code
   * crail.directoryrandomize} the order within a page is random. The iterator throws {@link
   * java.io.UncheckedIOException}.
   *
   * <p>The children of the root, and of a spread container, are spread over all namenodes. When a
   * namenode is down, the iterator first lists the children at the other namenodes. Then it throws,
   * with an {@link io.crail.common.error.IncompleteException} as the cause, which names the missing
   * namenodes.
   *
   * @return the paths
   * @throws Exception a {@code StaleNodeException} when the container was removed or renamed, since
   *     the paths of this handle would not exist any more
   */
  Iterator<String> listEntries() throws Exception;

  /**
   * Lists the same children as {@link #listEntries()}, in the order of the namenode, as handles
   * with type, size and modification time. No child needs a lookup of its own.
   *
   * @return the handles
   * @throws Exception as {@link #listEntries()}
   */
  Iterator<CrailNode> listStatus() throws Exception;

  /**
   * Lists what there is, as {@link #listStatus()} does, also when namenodes are down: their
   * children are left out. The iterator does not throw for that, if this is the root or spread. A
   * spread container is listed by its handle also while the namenode that owns it is down, without
   * a check of the paths.
   *
   * @param missing gets each namenode whose children were left out, before the iterator ends
   * @return the handles
   * @throws Exception as {@link #listStatus()}
   */
  Iterator<CrailNode> listStatus(Consumer<MissingNamenode> missing) throws Exception;
}
