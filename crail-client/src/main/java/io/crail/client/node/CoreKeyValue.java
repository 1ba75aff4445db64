/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailFile;
import io.crail.CrailKeyValue;
import io.crail.CrailNodeType;
import io.crail.client.lease.CreateCall;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import java.util.List;

/** A handle of a value in a table. Thread-safe. */
public final class CoreKeyValue extends CoreFile implements CrailKeyValue {
  /** A handle of a value that exists. */
  public CoreKeyValue(
      StoreContext store,
      String path,
      NodeInfo info,
      List<Extent> firstExtents,
      SmallValue value,
      long extentsValidUntilNanos) {
    super(store, path, info, firstExtents, value, extentsValidUntilNanos);
  }

  /** A handle of a value that is being created, with the write lease {@code token}. */
  public CoreKeyValue(StoreContext store, String path, CreateCall create, long token) {
    super(store, path, CrailNodeType.KEYVALUE, create, token);
  }

  @Override
  public boolean isBeingPut() throws Exception {
    return info().isBeingPut();
  }

  @Override
  public boolean isAbandoned() throws Exception {
    return info().isAbandoned();
  }

  @Override
  public CrailFile asFile() throws Exception {
    throw ErrorCode.WRONG_TYPE.exception(getPath() + " is a KEYVALUE, not a data file");
  }

  @Override
  public CrailKeyValue asKeyValue() {
    return this;
  }
}
