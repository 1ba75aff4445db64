/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Both ends of a connection made by DiSNI's verbs layer, and their memory. */
final class DisniPair implements AutoCloseable {
  /** Bytes of the memory at either end. */
  static final int MEMORY_BYTES = 1 << 20;

  private static final int DEPTH = 64;
  private static final byte RETRIES = 7;
  private static final int PATIENCE_MILLIS = 20_000;

  /** One end. */
  private static final class End {
    final RdmaCmId id;
    final IbvCQ cq;
    final IbvQP qp;
    final IbvMr memory;
    // Holds the memory.
    final ByteBuffer buffer =
        ByteBuffer.allocateDirect(MEMORY_BYTES).order(ByteOrder.nativeOrder());

    End(RdmaCmId id) throws IOException {
      this.id = id;
      IbvContext context = id.getVerbs();
      IbvPd pd = context.allocPd();
      cq = context.createCQ(context.createCompChannel(), DEPTH, 0);
      IbvQPInitAttr attributes = new IbvQPInitAttr();
      attributes.setQp_type(IbvQP.IBV_QPT_RC);
      attributes.setSend_cq(cq);
      attributes.setRecv_cq(cq);
      attributes.cap().setMax_send_wr(DEPTH);
      attributes.cap().setMax_recv_wr(1);
      qp = id.createQP(pd, attributes);
      int access =
          IbvMr.IBV_ACCESS_LOCAL_WRITE
              | IbvMr.IBV_ACCESS_REMOTE_WRITE
              | IbvMr.IBV_ACCESS_REMOTE_READ;
      memory = pd.regMr(buffer, access).execute().free().getMr();
    }
  }

  private final End client;
  private final End server;

  private DisniPair(End client, End server) {
    this.client = client;
    this.server = server;
  }

  /** Connects to an address of this machine. */
  static DisniPair connect(InetAddress address) throws IOException {
    RdmaEventChannel serving = RdmaEventChannel.createEventChannel();
    RdmaCmId listener = serving.createId(RdmaCm.RDMA_PS_TCP);
    listener.bindAddr(new InetSocketAddress(address, 0));
    listener.listen(1);
    int port = ((InetSocketAddress) listener.getSource()).getPort();
    RdmaEventChannel asking = RdmaEventChannel.createEventChannel();
    RdmaCmId id = asking.createId(RdmaCm.RDMA_PS_TCP);
    id.resolveAddr(null, new InetSocketAddress(address, port), PATIENCE_MILLIS);
    next(asking, RdmaCmEvent.EventType.RDMA_CM_EVENT_ADDR_RESOLVED);
    id.resolveRoute(PATIENCE_MILLIS);
    next(asking, RdmaCmEvent.EventType.RDMA_CM_EVENT_ROUTE_RESOLVED);
    End client = new End(id);
    id.connect(parameters());
    End server =
        new End(next(serving, RdmaCmEvent.EventType.RDMA_CM_EVENT_CONNECT_REQUEST).getConnIdPriv());
    server.id.accept(parameters());
    next(asking, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
    next(serving, RdmaCmEvent.EventType.RDMA_CM_EVENT_ESTABLISHED);
    return new DisniPair(client, server);
  }

  private static RdmaConnParam parameters() throws IOException {
    RdmaConnParam parameters = new RdmaConnParam();
    parameters.setRetry_count(RETRIES);
    parameters.setRnr_retry_count(RETRIES);
    return parameters;
  }

  private static RdmaCmEvent next(RdmaEventChannel channel, RdmaCmEvent.EventType expected)
      throws IOException {
    RdmaCmEvent event = channel.getCmEvent(PATIENCE_MILLIS);
    if (event == null || event.getEvent() != expected.ordinal()) {
      throw new IOException(
          expected + " did not come, but " + (event == null ? "nothing" : event.getEvent()));
    }
    event.ackEvent();
    return event;
  }

  IbvQP qp() {
    return client.qp;
  }

  IbvCQ cq() {
    return client.cq;
  }

  /** The handle of the queue pair for {@code io.crail.verbs}. */
  long qpHandle() {
    return ((NatObject) client.qp).getObjId();
  }

  /** The handle of the completion queue for {@code io.crail.verbs}. */
  long cqHandle() {
    return ((NatObject) client.cq).getObjId();
  }

  IbvMr local() {
    return client.memory;
  }

  IbvMr remote() {
    return server.memory;
  }

  @Override
  public void close() throws IOException {
    client.id.disconnect();
    // The process ends soon, and frees everything else.
  }
}
