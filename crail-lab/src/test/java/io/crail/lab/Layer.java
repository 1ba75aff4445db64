/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.lab;

import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvSge;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostSend;
import io.crail.verbs.Layouts;
import io.crail.verbs.Verbs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;

/**
 * A way to the native library. It posts a batch of reads, each time from and to other places, as a
 * store does, and looks at each completion.
 */
abstract class Layer implements AutoCloseable {
  /** Most reads of a batch. */
  static final int MOST_READS = 32;

  /**
   * The layers: Crail's own; DiSNI with a call that is prepared once; DiSNI with a new call for
   * each batch.
   */
  static final List<String> NAMES = List.of("verbs", "prepared", "anew");

  final DisniPair pair;
  final int reads;
  final int bytes;

  private Layer(DisniPair pair, int reads, int bytes) {
    this.pair = pair;
    this.reads = reads;
    this.bytes = bytes;
  }

  static Layer of(String name, DisniPair pair, int reads, int bytes) throws IOException {
    return switch (name) {
      case "verbs" -> new OverVerbs(pair, reads, bytes);
      case "prepared" -> new OverPrepared(pair, reads, bytes);
      case "anew" -> new OverAnew(pair, reads, bytes);
      default -> throw new IllegalArgumentException("no layer " + name + ", but " + NAMES);
    };
  }

  /** Posts the reads. */
  abstract void post(int round) throws IOException;

  /** Takes the completions that are there, and returns their number. */
  abstract int poll() throws IOException;

  @Override
  public void close() throws IOException {}

  /** The offset of a read, at either end. */
  final int offset(int round, int read) {
    int places = DisniPair.MEMORY_BYTES / Math.max(bytes, 1);
    return (round * reads + read) % places * bytes;
  }

  static void succeeded(int status) throws IOException {
    if (status != Layouts.WC_SUCCESS) {
      throw new IOException(Verbs.completionText(status));
    }
  }

  private static final class OverVerbs extends Layer {
    private static final int STRIDE = Layouts.SEND_WR_SIZE + Layouts.SGE_SIZE;

    private final ByteBuffer requests;
    private final ByteBuffer completions = direct(MOST_READS * Layouts.WC_SIZE);
    private final long qp = pair.qpHandle();
    private final long cq = pair.cqHandle();
    private final long requestAddress;
    private final long completionAddress = Verbs.addressOf(completions);
    private final long local = pair.local().getAddr();
    private final long remote = pair.remote().getAddr();

    OverVerbs(DisniPair pair, int reads, int bytes) {
      super(pair, reads, bytes);
      requests = direct(reads * STRIDE);
      requestAddress = Verbs.addressOf(requests);
      for (int i = 0; i < reads; i++) {
        int at = i * STRIDE;
        int element = at + Layouts.SEND_WR_SIZE;
        requests
            .putLong(at + Layouts.WR_ID, i)
            .putLong(at + Layouts.WR_NEXT, i + 1 < reads ? requestAddress + at + STRIDE : 0)
            .putLong(at + Layouts.WR_SGES, requestAddress + element)
            .putInt(at + Layouts.WR_SGE_COUNT, 1)
            .putInt(at + Layouts.SEND_WR_OPCODE, Layouts.OPCODE_RDMA_READ)
            .putInt(at + Layouts.SEND_WR_FLAGS, Layouts.SEND_SIGNALED)
            .putInt(at + Layouts.SEND_WR_RKEY, pair.remote().getRkey())
            .putInt(element + Layouts.SGE_LENGTH, bytes)
            .putInt(element + Layouts.SGE_LKEY, pair.local().getLkey());
      }
    }

    private static ByteBuffer direct(int length) {
      return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    }

    @Override
    void post(int round) throws IOException {
      for (int i = 0; i < reads; i++) {
        int at = i * STRIDE;
        int offset = offset(round, i);
        requests
            .putLong(at + Layouts.SEND_WR_REMOTE_ADDRESS, remote + offset)
            .putLong(at + Layouts.SEND_WR_SIZE + Layouts.SGE_ADDRESS, local + offset);
      }
      int result = Verbs.postSend(qp, requestAddress, 0);
      if (result != 0) {
        throw new IOException(Verbs.errorText(result));
      }
    }

    @Override
    int poll() throws IOException {
      int count = Verbs.pollCq(cq, MOST_READS, completionAddress);
      for (int i = 0; i < count; i++) {
        succeeded(completions.getInt(i * Layouts.WC_SIZE + Layouts.WC_STATUS));
      }
      if (count < 0) {
        throw new IOException(Verbs.errorText(count));
      }
      return count;
    }
  }

  /** The common part of both uses of DiSNI. */
  private abstract static class OverDisni extends Layer {
    final List<IbvSendWR> requests = new ArrayList<>();
    private final IbvWC[] completions = new IbvWC[MOST_READS];
    private final SVCPollCq poll;

    OverDisni(DisniPair pair, int reads, int bytes) throws IOException {
      super(pair, reads, bytes);
      for (int i = 0; i < reads; i++) {
        IbvSge element = new IbvSge();
        element.setLength(bytes);
        element.setLkey(pair.local().getLkey());
        IbvSendWR request = new IbvSendWR();
        request.setWr_id(i);
        request.setOpcode(IbvSendWR.IBV_WR_RDMA_READ);
        request.setSend_flags(IbvSendWR.IBV_SEND_SIGNALED);
        request.setSg_list(new LinkedList<>(List.of(element)));
        request.getRdma().setRkey(pair.remote().getRkey());
        requests.add(request);
      }
      for (int i = 0; i < MOST_READS; i++) {
        completions[i] = new IbvWC();
      }
      poll = pair.cq().poll(completions, MOST_READS);
    }

    @Override
    int poll() throws IOException {
      int count = poll.execute().getPolls();
      for (int i = 0; i < count; i++) {
        succeeded(completions[i].getStatus());
      }
      return count;
    }

    @Override
    public void close() throws IOException {
      poll.free();
    }
  }

  private static final class OverPrepared extends OverDisni {
    private final SVCPostSend post;
    private final SVCPostSend.RdmaMod[] remotes;
    private final SVCPostSend.SgeMod[] elements;

    OverPrepared(DisniPair pair, int reads, int bytes) throws IOException {
      super(pair, reads, bytes);
      post = pair.qp().postSend(requests, null);
      remotes = new SVCPostSend.RdmaMod[reads];
      elements = new SVCPostSend.SgeMod[reads];
      for (int i = 0; i < reads; i++) {
        remotes[i] = post.getWrMod(i).getRdmaMod();
        elements[i] = post.getWrMod(i).getSgeMod(0);
      }
    }

    @Override
    void post(int round) throws IOException {
      for (int i = 0; i < reads; i++) {
        int offset = offset(round, i);
        remotes[i].setRemote_addr(pair.remote().getAddr() + offset);
        elements[i].setAddr(pair.local().getAddr() + offset);
      }
      post.execute();
    }

    @Override
    public void close() throws IOException {
      post.free();
      super.close();
    }
  }

  /** As for batches of changing length. */
  private static final class OverAnew extends OverDisni {
    OverAnew(DisniPair pair, int reads, int bytes) throws IOException {
      super(pair, reads, bytes);
    }

    @Override
    void post(int round) throws IOException {
      for (int i = 0; i < reads; i++) {
        int offset = offset(round, i);
        IbvSendWR request = requests.get(i);
        request.getRdma().setRemote_addr(pair.remote().getAddr() + offset);
        request.getSge(0).setAddr(pair.local().getAddr() + offset);
      }
      pair.qp().postSend(requests, null).execute().free();
    }
  }
}
