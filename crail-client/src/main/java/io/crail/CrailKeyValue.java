/* SPDX-License-Identifier: Apache-2.0 */
package io.crail;

/**
 * A value in a table. To put a value means to create its key, to write the bytes and to close the
 * stream; {@link CrailStore#put} does all of that. Puts on one key are ordered by their creates,
 * and the last one wins. A create removes the old value for all readers at once; the new value then
 * grows from nothing, as a file does. {@link CrailStore#put} leaves the old value there until the
 * new one is whole. If there is none, {@link #isBeingPut} is true while the bytes are sent, and
 * {@link CrailStore#get} waits.
 *
 * <p>When the key is put again or deleted, every client that still holds this value gets a {@code
 * StaleNodeException}. A reader gets it at its next access to the bytes. A writer gets it when it
 * needs more space, with {@code sync()} and with {@code close()}. A writer also gets it at any
 * write after its lease should have been renewed; a lease is renewed every third of {@code
 * crail.lease}. Until then, writes into space that the writer already has succeed.
 *
 * <p>For a put this error means that a later put has won: these bytes will not be read. A program
 * that only needs some value under the key is done. A program that needs this value puts it again,
 * beginning with the create. The stream is closed and its space is free in either case.
 *
 * <p>A small value ({@code crail.namenode.smallvalue}) comes with its lookup. For a second after
 * the lookup, the first read of that handle returns these bytes: the value as it was at the lookup.
 * Every other read asks whether the value still exists. A stream keeps the bytes of a small value
 * in memory until its {@code sync()}, {@code purge()} or {@code close()}.
 */
public interface CrailKeyValue extends CrailFile {
  /**
   * Returns whether a {@link CrailStore#put} was sending the bytes when this value was looked up.
   * Then there is no value yet; a new lookup shows it soon. An empty value that has been put is not
   * being put.
   *
   * @return true when there is no value yet
   * @throws Exception the error of the create, for a handle that came early
   */
  boolean isBeingPut() throws Exception;

  /**
   * Returns whether, at the lookup of this value, a {@link CrailStore#put} had failed, or its
   * program had vanished, before any of its bytes had arrived, and the key had no value before.
   * {@link CrailStore#get} reports that there is no such key. The key can be put, written and
   * deleted.
   *
   * @return true when there is no value, and no put that will bring one
   * @throws Exception the error of the create, for a handle that came early
   */
  boolean isAbandoned() throws Exception;
}
