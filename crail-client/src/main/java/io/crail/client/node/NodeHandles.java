/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.node;

import io.crail.CrailNodeType;
import io.crail.client.lease.CreateCall;
import io.crail.common.Utf8;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.Extent;
import io.crail.protocol.part.NodeInfo;
import io.crail.protocol.part.NodeType;
import java.util.List;

/** Makes the handle that a node's type asks for. Stateless. */
public final class NodeHandles {
  private NodeHandles() {}

  /** The handle of a node that the namenode has described. */
  public static CoreNode of(
      StoreContext store, String path, NodeInfo info, List<Extent> extents, long validUntilNanos) {
    return of(store, path, info, extents, SmallValue.NONE, validUntilNanos);
  }

  /** As the other one, with all bytes of a small value. */
  public static CoreNode of(
      StoreContext store,
      String path,
      NodeInfo info,
      List<Extent> extents,
      SmallValue value,
      long validUntilNanos) {
    switch (info.type()) {
      case DATAFILE:
        return new CoreFile(store, path, info, extents, value, validUntilNanos);
      case KEYVALUE:
        return new CoreKeyValue(store, path, info, extents, value, validUntilNanos);
      default:
        return container(store, path, info.type(), null, info);
    }
  }

  /** The handle of a node that is being created. */
  public static CoreNode creating(
      StoreContext store, String path, NodeType type, CreateCall create, long token) {
    switch (type) {
      case DATAFILE:
        return new CoreFile(store, path, CrailNodeType.DATAFILE, create, token);
      case KEYVALUE:
        return new CoreKeyValue(store, path, create, token);
      default:
        return container(store, path, type, create, null);
    }
  }

  private static CoreNode container(
      StoreContext store, String path, NodeType type, CreateCall create, NodeInfo info) {
    if (info != null && info.isSpread()) {
      store.routes().add(Utf8.of(path), info.id());
    }
    switch (type) {
      case DIRECTORY:
        return new CoreContainer.Directory(store, path, create, info);
      case MULTIFILE:
        return new CoreContainer.MultiFile(store, path, create, info);
      case TABLE:
        return new CoreContainer.Table(store, path, create, info);
      default:
        throw new AssertionError(type);
    }
  }
}
