/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.storage.rdma;

import io.crail.common.RateLimitedLog;
import io.crail.rpc.login.Caller;
import io.crail.rpc.rdma.QueuePair;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The clients that are connected to a datanode. The datanode asks them now and then whether they
 * live. Used by the listener's thread, except for their number.
 */
final class ServedClients {
  /** Unanswered questions after which a client counts as gone. */
  private static final int PATIENT_TURNS = 3;

  private static final Logger LOG = LoggerFactory.getLogger(ServedClients.class);

  private final List<Client> clients = new ArrayList<>();
  private volatile int count;
  private final RateLimitedLog log;
  private final KeepAliveRequest keepAlive = new KeepAliveRequest();

  /**
   * Creates a list without clients.
   *
   * @param log names the clients that do not answer any more
   */
  ServedClients(RateLimitedLog log) {
    this.log = log;
  }

  /** The number of connected clients. By any thread. */
  int size() {
    return count;
  }

  /**
   * Adds a client.
   *
   * @param caller in whom the login has ended
   */
  QueuePair.Handler add(QueuePair pair, Caller caller) {
    Client client = new Client(pair, caller);
    clients.add(client);
    count = clients.size();
    return client;
  }

  /** Asks all clients whether they live, and ends the connections of those whose time is over. */
  void ask() {
    long nowSeconds = System.currentTimeMillis() / 1000;
    for (int i = clients.size() - 1; i >= 0; i--) {
      Client client = clients.get(i);
      if (client.caller.isOver(nowSeconds)) {
        client.pair.close("its ticket has ended");
      } else {
        client.ask();
      }
    }
  }

  /** Ends all connections. */
  void endAll(String cause) {
    for (Client client : List.copyOf(clients)) {
      client.pair.close(cause);
    }
  }

  /**
   * Ends the connections of some clients, including connections that their clients do not know to
   * be established yet. After that, this device refuses the clients' posted requests, whenever
   * these leave the clients' devices.
   *
   * @return why that is not possible; null when it is done
   */
  String cutOff(Set<Long> ids) {
    String failure = null;
    for (Client client : List.copyOf(clients)) {
      if (ids.contains(client.caller.client())) {
        LOG.info(
            "client {} at {} is cut off, for it has lost a lease without a word",
            Long.toHexString(client.caller.client()),
            client.pair.peer());
        if (!client.pair.close("its client is cut off")) {
          failure = "the connection of " + client.pair.peer() + " cannot be ended";
        }
      }
    }
    return failure;
  }

  /** A connected client. */
  private final class Client implements QueuePair.Handler {
    private final QueuePair pair;
    private final Caller caller;
    private boolean asked;
    private int turnsUnanswered;

    Client(QueuePair pair, Caller caller) {
      this.pair = pair;
      this.caller = caller;
    }

    /** Writes zero bytes to the client. The client's device acknowledges that while it lives. */
    void ask() {
      if (asked) {
        // Some devices never stop repeating unacknowledged requests.
        if (++turnsUnanswered == PATIENT_TURNS) {
          gone("nothing acknowledged");
          pair.close("it does not answer");
        }
        return;
      }
      asked = true;
      turnsUnanswered = 0;
      int result = pair.post(keepAlive.address(pair.wrId(0)));
      if (result < 0) {
        pair.close("the device takes no request: " + Verbs.errorText(result));
      }
    }

    private void gone(String text) {
      log.warn("client " + pair.peer() + " does not answer any more: " + text);
    }

    @Override
    public void completed(int request, int opcode, int bytes) {
      asked = false;
    }

    @Override
    public void failed(int request, int status, String text) {
      gone(text);
    }

    @Override
    public void closed(String cause) {
      clients.remove(this);
      count = clients.size();
      LOG.debug("the connection of {} has ended: {}", pair.peer(), cause);
    }
  }

  /** The request of a write of zero bytes. Only its id differs between connections. */
  private static final class KeepAliveRequest {
    private ByteBuffer request;
    private long address;

    long address(long id) {
      if (request == null) {
        request = ByteBuffer.allocateDirect(Layouts.SEND_WR_SIZE).order(ByteOrder.nativeOrder());
        request.putInt(Layouts.SEND_WR_OPCODE, Layouts.OPCODE_RDMA_WRITE);
        request.putInt(Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED);
        address = Verbs.addressOf(request);
      }
      request.putLong(Layouts.WR_ID, id);
      return address;
    }
  }
}
