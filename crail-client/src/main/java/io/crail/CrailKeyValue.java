/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A value in a table. To put one is to create its key, write the bytes and close the stream, or
 * {@link CrailStore#put} for all of that. The last put wins, and puts are ordered by their creates:
 * a create takes the old value away for everybody at once, and the new one grows, from nothing, as
 * files do. While {@link CrailStore#put} brings the bytes the node {@linkplain #isBeingPut says
 * so}, and {@link CrailStore#get} waits for them.
 *
 * <p>When the key is put again, or deleted, whoever still holds this value gets a {@code
 * StaleNodeException}: a reader at the next access to its bytes; a writer when it needs more space,
 * with {@code sync()} and with {@code close()}, and at any write once its lease should have been
 * renewed, which is every third of {@code crail.lease}. Until then writes into space that it has
 * already succeed. For a put that means that a later one has taken its place: nobody will read
 * these bytes, and who only wants some value under the key is done. Who needs this very value to be
 * there puts it again, from the create on. The stream is closed and its space is free all the same.
 *
 * <p>A small value ({@code crail.namenode.smallvalue}) comes with its lookup. The first read of a
 * handle that was looked up takes what came, for a second from the lookup: the value as it was
 * then. Every other read asks whether the value is still there. A stream keeps the bytes of a small
 * value back until its {@code sync()}, {@code purge()} or {@code close()}.
 */
public interface CrailKeyValue extends CrailFile {
  /**
   * True when this was looked up while a {@link CrailStore#put} was bringing its bytes: there is no
   * value yet, and to look it up again soon shows it. An empty value is none that is being put.
   */
  boolean isBeingPut() throws Exception;

  /**
   * True when this was looked up after a {@link CrailStore#put} had failed, or its program had
   * vanished, before any of its bytes was there. The old value is gone and there is no other:
   * {@link CrailStore#get} tells that there is no such key. The key can be put, written and
   * deleted.
   */
  boolean isAbandoned() throws Exception;
}
