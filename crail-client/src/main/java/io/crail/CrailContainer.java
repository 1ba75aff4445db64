/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.util.Iterator;

/** A node with children. */
public interface CrailContainer extends CrailNode {
  /**
   * The number of children now. Those that are not enumerable are included, so there may be more of
   * them than listings show. Asks the store; an error comes as {@link
   * java.io.UncheckedIOException}, for the root also when one namenode is down.
   */
  int files();

  /**
   * The full paths of the enumerable children, asked for page by page while they are consumed. A
   * child that is there from beginning to end is listed once; one that comes or goes meanwhile may
   * be listed or not. With {@code crail.directoryrandomize} the order within a page is random. The
   * iterator throws {@link java.io.UncheckedIOException}.
   *
   * <p>The children of the root are spread over all namenodes. Where one is down, the iterator
   * gives those of the others first. Then it throws, with an {@link
   * io.crail.common.error.IncompleteException} as the cause, which names the namenodes that are
   * missing.
   *
   * @throws Exception a {@code StaleNodeException} when the container was removed or renamed: the
   *     paths that this handle would give lead nowhere
   */
  Iterator<String> listEntries() throws Exception;

  /**
   * The same children as {@link #listEntries()}, in the order of the namenode, as handles with
   * type, size and modification time, without a lookup for each.
   */
  Iterator<CrailNode> listStatus() throws Exception;
}
