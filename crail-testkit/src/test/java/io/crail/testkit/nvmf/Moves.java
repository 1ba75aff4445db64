/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.nvmf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.crail.nvmf.NamespaceData;
import io.crail.nvmf.NvmeRequest;
import io.crail.nvmf.NvmeStatus;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** Writes pieces of random lengths to a host's namespaces, many at a time, and reads them back. */
final class Moves {
  private static final int PLACES = 16;
  private static final int LENGTH = 128 * 1024;

  /** A piece: which namespace, where, its length, and the bytes in the memory. */
  private record Piece(
      NamespaceData namespace, long block, int count, ByteBuffer memory, int offset) {
    int length() {
      return count * namespace.blockLength();
    }
  }

  private Moves() {}

  static ByteBuffer memory(int length, Random random) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return NvmeRequest.newMemory(length).put(0, bytes);
  }

  static byte[] bytes(ByteBuffer memory, int offset, int length) {
    byte[] bytes = new byte[length];
    memory.duplicate().clear().get(offset, bytes);
    return bytes;
  }

  /**
   * Writes, compares, reads, compares, flushes.
   *
   * @param inside looks into the target's namespaces; gives null when that is impossible
   */
  static void check(TestHost host, Random random, IntFunction<TargetNamespace> inside)
      throws Exception {
    List<NamespaceData> namespaces = host.controller().namespaces();
    List<Piece> pieces = new ArrayList<>();
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (int place = 0; place < PLACES; place++) {
      NamespaceData namespace = namespaces.get(place % namespaces.size());
      int blocks = LENGTH / namespace.blockLength();
      int count = 1 + random.nextInt(blocks);
      int offset = random.nextInt(64);
      ByteBuffer memory = memory(offset + count * namespace.blockLength(), random);
      Piece piece = new Piece(namespace, (long) place * blocks, count, memory, offset);
      pieces.add(piece);
      all.add(host.write(namespace.number(), piece.block(), count, memory, offset, piece.length()));
    }
    awaitAll(all);
    List<ByteBuffer> seen = new ArrayList<>();
    for (Piece piece : pieces) {
      TargetNamespace target = inside.apply(piece.namespace().number());
      if (target != null) {
        assertArrayEquals(
            bytes(piece.memory(), piece.offset(), piece.length()),
            target.read(piece.block() * piece.namespace().blockLength(), piece.length()));
      }
      ByteBuffer memory = memory(piece.offset() + piece.length(), random);
      seen.add(memory);
      all.add(
          host.read(
              piece.namespace().number(),
              piece.block(),
              piece.count(),
              memory,
              piece.offset(),
              piece.length()));
    }
    awaitAll(all);
    for (int i = 0; i < PLACES; i++) {
      Piece piece = pieces.get(i);
      assertArrayEquals(
          bytes(piece.memory(), piece.offset(), piece.length()),
          bytes(seen.get(i), piece.offset(), piece.length()));
    }
    int last = namespaces.get(namespaces.size() - 1).number();
    assertEquals(NvmeStatus.OK, TestHost.await(host.flush(last)));
  }

  private static void awaitAll(List<CompletableFuture<Integer>> all) throws Exception {
    for (CompletableFuture<Integer> one : all) {
      int status = TestHost.await(one);
      assertEquals(NvmeStatus.OK, status, NvmeStatus.text(status));
    }
    all.clear();
  }
}
