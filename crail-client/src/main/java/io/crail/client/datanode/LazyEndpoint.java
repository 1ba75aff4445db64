/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.datanode;

import io.crail.common.config.ConfigException;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.rpc.ClientLoop;
import io.crail.rpc.loop.LoopTask;
import io.crail.storage.StorageEndpoint;
import io.crail.storage.Transfer;
import java.util.function.BiConsumer;

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
    begin(transfer, StorageEndpoint::read);
  }

  @Override
  public void write(Transfer transfer) {
    begin(transfer, StorageEndpoint::write);
  }

  @Override
  public void flush(Transfer transfer) {
    begin(transfer, StorageEndpoint::flush);
  }

  private void begin(Transfer transfer, BiConsumer<StorageEndpoint, Transfer> kind) {
    StorageEndpoint endpoint = made;
    if (endpoint != null) {
      kind.accept(endpoint, transfer);
    } else {
      loop.submit(new Early(transfer, kind));
    }
  }

  /** A transfer that came before there was an endpoint. */
  private final class Early implements LoopTask {
    private final Transfer transfer;
    private final BiConsumer<StorageEndpoint, Transfer> kind;

    Early(Transfer transfer, BiConsumer<StorageEndpoint, Transfer> kind) {
      this.transfer = transfer;
      this.kind = kind;
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
      kind.accept(endpoint, transfer);
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
