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
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;

/** A handle of a value in a table. Thread-safe. */
public final class CoreKeyValue extends CoreFile implements CrailKeyValue {
  private static final VarHandle LOOKED_UP;

  static {
    try {
      LOOKED_UP =
          MethodHandles.lookup().findVarHandle(CoreKeyValue.class, "lookedUp", byte[].class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** The bytes that came with the lookup, until they are read; else null. */
  private volatile byte[] lookedUp;

  /** A handle of a value that exists. */
  public CoreKeyValue(
      StoreContext store,
      String path,
      NodeInfo info,
      List<Extent> firstExtents,
      SmallValue value,
      long extentsValidUntilNanos) {
    super(store, path, info, firstExtents, extentsValidUntilNanos);
    this.lookedUp = value.length() == 0 ? null : value.bytes();
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
  public byte[] knownValue(long nowNanos) {
    if (lookedUp == null) {
      return null;
    }
    // The first read counts as part of the lookup. A later read asks whether the value is still the
    // same.
    byte[] value = (byte[]) LOOKED_UP.getAndSet(this, null);
    return areFirstExtentsValid(nowNanos) ? value : null;
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
