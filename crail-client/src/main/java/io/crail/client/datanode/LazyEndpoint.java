/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;

/**
 * An endpoint that is made in the loop when its first transfer comes. It serves threads other than
 * the loop that find out that they need one. Thread-safe. Once the endpoint is made, using it costs
 * one extra read.
 */
final class LazyEndpoint implements StorageEndpoint {
  /** Makes the endpoint. */
  interface Maker {
    /** Called in the loop, again if it has failed. */
    StorageEndpoint make() throws CrailException;
  }

  private final ClientLoop loop;
  private final Maker maker;
  private volatile StorageEndpoint made;

  // In the loop.
  private boolean closed;

  LazyEndpoint(ClientLoop loop, Maker maker) {
    this.loop = loop;
    this.maker = maker;
  }

  @Override
  public void read(Transfer transfer) {
    StorageEndpoint endpoint = made;
    if (endpoint != null) {
      endpoint.read(transfer);
    } else {
      loop.submit(new Early(transfer, false));
    }
  }

  @Override
  public void write(Transfer transfer) {
    StorageEndpoint endpoint = made;
    if (endpoint != null) {
      endpoint.write(transfer);
    } else {
      loop.submit(new Early(transfer, true));
    }
  }

  /** A transfer that came before there was an endpoint. */
  private final class Early implements ClientLoop.Task {
    private final Transfer transfer;
    private final boolean write;

    Early(Transfer transfer, boolean write) {
      this.transfer = transfer;
      this.write = write;
    }

    @Override
    public void runInLoop() {
      StorageEndpoint endpoint;
      try {
        endpoint = endpoint();
      } catch (CrailException e) {
        transfer.end(e);
        return;
      } catch (ConfigException e) {
        transfer.end(ErrorCode.UNSUPPORTED.exception(e.getMessage()));
        return;
      }
      if (write) {
        endpoint.write(transfer);
      } else {
        endpoint.read(transfer);
      }
    }

    @Override
    public void rejected() {
      transfer.end(ErrorCode.CLOSED.exception("the loop of the endpoint"));
    }
  }

  private StorageEndpoint endpoint() throws CrailException {
    if (closed) {
      throw ErrorCode.CLOSED.exception("endpoint");
    }
    if (made == null) {
      made = maker.make();
    }
    return made;
  }

  @Override
  public boolean isLocal() {
    return false;
  }

  @Override
  public boolean isLost() {
    StorageEndpoint endpoint = made;
    return endpoint != null && endpoint.isLost();
  }

  @Override
  public void close() {
    loop.submit(
        () -> {
          closed = true;
          if (made != null) {
            made.close();
          }
        });
  }
}
