/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client;

import io.crail.CrailFile;
import io.crail.CrailKeyValue;
import io.crail.CrailNodeType;
import io.crail.common.error.ErrorCode;
import io.crail.protocol.Extent;
import io.crail.protocol.NodeInfo;
import java.util.List;

/** A handle of a value in a table. Thread-safe. */
final class CoreKeyValue extends CoreFile implements CrailKeyValue {
  CoreKeyValue(
      CoreStore store,
      String path,
      NodeInfo info,
      List<Extent> firstExtents,
      long extentsValidUntilNanos) {
    super(store, path, info, firstExtents, extentsValidUntilNanos);
  }

  CoreKeyValue(CoreStore store, String path, CreateCall create, long token) {
    super(store, path, CrailNodeType.KEYVALUE, create, token);
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
