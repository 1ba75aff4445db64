/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

import java.util.Iterator;

/** A node that holds nodes of every type except key-values. */
public interface CrailDirectory extends CrailContainer {
  @Override
  int files();

  @Override
  Iterator<String> listEntries() throws Exception;
}
