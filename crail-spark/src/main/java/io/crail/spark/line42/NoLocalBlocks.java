/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.line42;

import java.io.IOException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.StreamCallbackWithID;
import org.apache.spark.network.shuffle.MergedBlockMeta;
import org.apache.spark.serializer.SerializerManager;
import org.apache.spark.shuffle.MigratableResolver;
import org.apache.spark.shuffle.ShuffleBlockInfo;
import org.apache.spark.shuffle.ShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleMergedBlockId;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.List;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * An executor holds no blocks of shuffles: there is none to send and, when it goes, none to move.
 */
final class NoLocalBlocks implements ShuffleBlockResolver, MigratableResolver {
  @Override
  public ManagedBuffer getBlockData(BlockId block, Option<String[]> directories) {
    throw none(block);
  }

  @Override
  public Seq<BlockId> getBlocksForShuffle(int shuffle, long map) {
    return empty();
  }

  @Override
  public Seq<ManagedBuffer> getMergedBlockData(
      ShuffleMergedBlockId block, Option<String[]> directories) {
    throw none(block);
  }

  @Override
  public MergedBlockMeta getMergedBlockMeta(
      ShuffleMergedBlockId block, Option<String[]> directories) {
    throw none(block);
  }

  @Override
  public Seq<ShuffleBlockInfo> getStoredShuffles() {
    return empty();
  }

  @Override
  public void addShuffleToSkip(int shuffle) {
    // None is ever moved.
  }

  @Override
  public StreamCallbackWithID putShuffleBlockAsStream(BlockId block, SerializerManager serializer) {
    throw none(block);
  }

  @Override
  public List<Tuple2<BlockId, ManagedBuffer>> getMigrationBlocks(ShuffleBlockInfo info) {
    return empty();
  }

  @SuppressWarnings("unchecked")
  private static <T> List<T> empty() {
    return (List<T>) (List<?>) Nil$.MODULE$;
  }

  private static RuntimeException none(BlockId block) {
    return new java.io.UncheckedIOException(new IOException("block " + block + " is in Crail"));
  }

  @Override
  public void stop() {
    // Nothing to end.
  }
}
