/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.CrailKeyValue;
import io.crail.client.loop.LoopContext;
import io.crail.client.node.StoreContext;
import io.crail.client.stream.DirectOutput;
import io.crail.common.error.CrailException;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Put;
import java.nio.ByteBuffer;

/**
 * Puts a whole value: create, write, close. Puts take effect in the order of their creates,
 * whatever happens to the bytes. With the close, the lease goes back, with the length.
 */
public final class PutCall extends ValueCall<CrailKeyValue> {
  /**
   * Creates a call; {@link #begin} starts it.
   *
   * @param namenode the index of the path's namenode
   * @param path as the handle shows it
   * @param root what the memory of the value was cut from
   * @param request without a token for a value of no bytes
   */
  public PutCall(
      StoreContext store,
      LoopContext context,
      int namenode,
      String path,
      ByteBuffer root,
      Put.Draft request) {
    super(NameNodeOperations.PUT, store, context, namenode, path, root, request);
  }

  @Override
  void written(DirectOutput output, CrailException failure) {
    output.beginClose(this::closed);
  }

  @Override
  public CrailKeyValue result() {
    return value();
  }
}
