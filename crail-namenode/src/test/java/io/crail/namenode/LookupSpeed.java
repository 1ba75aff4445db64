/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.namenode;

import com.sun.management.ThreadMXBean;
import io.crail.common.Utf8;
import io.crail.namenode.activity.ClientActivity;
import io.crail.namenode.user.SessionUser;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.node.Lookup;
import io.crail.protocol.part.NodeType;
import io.crail.rpc.Frame;
import io.crail.rpc.RequestBatch;
import io.crail.rpc.ResponseWriter;
import io.crail.rpc.Session;
import io.crail.rpc.login.Caller;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;

/**
 * Measures lookups of random names without a network. The arguments are the number of names, the
 * requests of a batch, the rounds, and the depth of the paths. Prints the lookups per second of
 * processor time, which other processes disturb little, and the bytes allocated for each.
 */
final class LookupSpeed {
  private static final int BATCHES = 8192;

  private LookupSpeed() {}

  /** Throws the answers away, after they have been written. */
  private static final class Sink extends ResponseWriter {
    private final ByteBuffer buffer =
        ByteBuffer.allocateDirect(1 << 16).order(ByteOrder.LITTLE_ENDIAN);

    @Override
    protected ByteBuffer nextBuffer(int written, int needed) {
      return buffer;
    }

    void reset() {
      detach();
    }
  }

  public static void main(String[] arguments) throws Exception {
    int names = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
    int perBatch = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 128;
    int rounds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 7;
    int depth = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 1;
    TestStore store = new TestStore();
    StringBuilder directory = new StringBuilder();
    for (int i = 1; i < depth; i++) {
      directory.append("/directory-").append(i);
      store.mkdir(directory.toString());
    }
    for (int i = 0; i < names; i++) {
      store.create(NodeType.DATAFILE, path(directory.toString(), i), 0);
    }
    Random random = new Random(1);
    RequestBatch[] batches = new RequestBatch[BATCHES];
    Session session = new Session("speed");
    ClientActivity activity = store.namenode.activity().begin(1, Utf8.EMPTY, Utf8.EMPTY);
    Caller caller = TestStore.caller("");
    session.attach(
        ClientSession.of(
            store.namenode, new SessionUser(store.namenode.users(), caller), activity));
    session.accept(caller);
    for (int b = 0; b < BATCHES; b++) {
      batches[b] = batch(session, perBatch, names, directory.toString(), random);
    }
    Sink sink = new Sink();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int round = 0; round < rounds; round++) {
      long allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
      long start = threads.getCurrentThreadCpuTime();
      long done = 0;
      while (threads.getCurrentThreadCpuTime() - start < 1_000_000_000L) {
        for (RequestBatch batch : batches) {
          sink.reset();
          store.server.serve(batch, sink);
          done += perBatch;
        }
      }
      double seconds = (threads.getCurrentThreadCpuTime() - start) / 1e9;
      allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - allocated;
      System.out.printf(
          "%d names, %d at a time, depth %d: %.2f million lookups per CPU second, %.3f bytes"
              + " allocated each%n",
          names, perBatch, depth, done / seconds / 1e6, (double) allocated / done);
    }
  }

  private static String path(String directory, int number) {
    return directory + "/" + String.format("file-%018d", number);
  }

  private static RequestBatch batch(
      Session session, int count, int names, String directory, Random random) {
    RequestBatch batch = new RequestBatch(session);
    ByteBuffer in =
        ByteBuffer.allocateDirect(count * (directory.length() + 64)).order(ByteOrder.LITTLE_ENDIAN);
    batch.reset(in);
    int offset = 0;
    for (int i = 0; i < count; i++) {
      Lookup.Request request = new Lookup.Request(Utf8.of(path(directory, random.nextInt(names))));
      int length = Frame.HEADER_LENGTH + Lookup.Request.CODEC.length(request);
      Frame.write(in, offset, length, NameNodeOperations.LOOKUP.number(), 0, i);
      Lookup.Request.CODEC.encode(request, in, offset + Frame.HEADER_LENGTH);
      batch.add(offset, length);
      offset += length;
    }
    return batch;
  }
}
