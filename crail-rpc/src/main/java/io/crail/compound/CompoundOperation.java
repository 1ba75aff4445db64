/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.compound;

import io.crail.common.Utf8;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.part.CompoundStep;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * A list of guards, changes and reads of one node. The steps are performed in their order, and each
 * sees what those before it have done. The first that fails ends the list, and then nothing is
 * changed. Others see all changes at once.
 *
 * <p>Lists change the bytes of key-values whose bytes the namenode keeps, up to {@code
 * crail.namenode.smallvalue}; for more bytes there are {@link StagedBytes}. Guards, attributes and
 * epochs are for nodes of every type, limits for directories and tables. Immutable.
 *
 * <p>The shape is that of the operations of librados, Ceph's object store.
 */
public final class CompoundOperation {
  private final List<CompoundStep> steps;
  private final boolean changes;
  private final StagedBytes staged;

  private CompoundOperation(List<CompoundStep> steps, boolean changes, StagedBytes staged) {
    this.steps = steps;
    this.changes = changes;
    this.staged = staged;
  }

  /** {@return a list without steps, to be filled} */
  public static Builder builder() {
    return new Builder();
  }

  /** {@return the steps in the form of the protocol, for implementations of a store} */
  public List<CompoundStep> steps() {
    return steps;
  }

  /** {@return whether a step changes something} */
  public boolean isChange() {
    return changes;
  }

  /** {@return the staged bytes that a step links; null for none} */
  public StagedBytes staged() {
    return staged;
  }

  /** Collects steps. Not thread-safe. */
  public static final class Builder {
    private static final byte[] NONE = {};

    private final List<CompoundStep> steps = new ArrayList<>();
    private boolean changes;
    private StagedBytes staged;

    private Builder() {}

    /**
     * Guard: there is a node.
     *
     * @return this
     */
    public Builder requireExists() {
      return add(StepKind.EXISTS);
    }

    /**
     * Guard: there is no node.
     *
     * @return this
     */
    public Builder requireAbsent() {
      return add(StepKind.ABSENT);
    }

    /**
     * Guard: the node is the one with this id, and no other one of that name.
     *
     * @param id as {@link CompoundResult#id()} has it
     * @return this
     */
    public Builder requireId(long id) {
      return add(StepKind.ID, Comparison.EQUAL, id);
    }

    /**
     * Guard: compares the version of the node.
     *
     * @param comparison how the present one is compared with {@code version}
     * @param version the version
     * @return this
     */
    public Builder requireVersion(Comparison comparison, long version) {
      return add(StepKind.VERSION, comparison, version);
    }

    /**
     * Guard: compares the epoch of the node.
     *
     * @param comparison how the present one is compared with {@code epoch}
     * @param epoch the epoch
     * @return this
     */
    public Builder requireEpoch(Comparison comparison, long epoch) {
      return add(StepKind.EPOCH, comparison, epoch);
    }

    /**
     * Guard: compares the number of bytes of the node.
     *
     * @param comparison how the present one is compared with {@code size}
     * @param size the number of bytes
     * @return this
     */
    public Builder requireSize(Comparison comparison, long size) {
      return add(StepKind.SIZE, comparison, size);
    }

    /**
     * Guard: the node has an attribute.
     *
     * @param name its name
     * @return this
     */
    public Builder requireAttribute(String name) {
      return add(StepKind.HAS_ATTRIBUTE, name);
    }

    /**
     * Guard: the node has no such attribute.
     *
     * @param name its name
     * @return this
     */
    public Builder requireNoAttribute(String name) {
      return add(StepKind.LACKS_ATTRIBUTE, name);
    }

    /**
     * Guard: compares an attribute as bytes, each of which is 0 to 255. It fails when the node has
     * no such attribute.
     *
     * @param name its name
     * @param comparison how the present one is compared with {@code value}
     * @param value the bytes
     * @return this
     */
    public Builder requireAttribute(String name, Comparison comparison, byte[] value) {
      return add(StepKind.ATTRIBUTE, comparison, 0, 0, name, value, NONE);
    }

    /**
     * Guard: compares an attribute as a number, which it has as decimal text. It fails when the
     * node has no such attribute.
     *
     * @param name its name
     * @param comparison how the present one is compared with {@code number}
     * @param number the number
     * @return this
     */
    public Builder requireNumber(String name, Comparison comparison, long number) {
      return add(StepKind.ATTRIBUTE_NUMBER, comparison, number, 0, name, NONE, NONE);
    }

    /**
     * Guard: compares the bytes from a position on, as many as are given or as there are.
     *
     * @param position of the first byte
     * @param comparison how the present one is compared with {@code bytes}
     * @param bytes the bytes
     * @return this
     */
    public Builder requireBytes(long position, Comparison comparison, byte[] bytes) {
      return add(StepKind.BYTES, comparison, position, 0, "", bytes, NONE);
    }

    /**
     * Change: makes a key-value without bytes; there must be no node. It has the storage class and
     * the location class of its table.
     *
     * @return this
     */
    public Builder create() {
      return add(StepKind.CREATE);
    }

    /**
     * Change: adds bytes at the end. Its number is the size afterwards.
     *
     * @param bytes the bytes
     * @return this
     */
    public Builder append(byte[] bytes) {
      return add(StepKind.APPEND, 0, bytes);
    }

    /**
     * Change: adds the bytes between position and limit of a buffer, as {@link #append(byte[])}
     * does. They are copied now; the position stays.
     *
     * @param bytes the bytes
     * @return this
     */
    public Builder append(ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.get(bytes.position(), copy);
      return add(StepKind.APPEND, 0, copy);
    }

    /**
     * Change: writes bytes at a position. If there are fewer before it, they become 0.
     *
     * @param position of the first byte
     * @param bytes the bytes
     * @return this
     */
    public Builder write(long position, byte[] bytes) {
      return add(StepKind.WRITE, position, bytes);
    }

    /**
     * Change: replaces all bytes.
     *
     * @param bytes the bytes
     * @return this
     */
    public Builder writeFull(byte[] bytes) {
      return add(StepKind.WRITE_FULL, 0, bytes);
    }

    /**
     * Change: replaces all bytes with staged ones. As with a put, they are those of another node:
     * it has another id, and whoever reads the former one gets a stale error. The key keeps its
     * epoch, attributes, lifetime, owner and permissions; storage class and location class are
     * those of the staged bytes. The number of the step is the size afterwards. A list can link
     * only one {@link StagedBytes}.
     *
     * @param bytes the bytes, staged for the path of the list
     * @return this
     */
    public Builder writeFull(StagedBytes bytes) {
      return link(bytes, CompoundStep.LINK_WHOLE);
    }

    /**
     * Change: adds staged bytes at the end. Those before them have to be at datanodes, or there are
     * none; otherwise the step fails with NOT_KEPT, and {@code CrailStore.settle} helps. The number
     * of the step is the size afterwards.
     *
     * @param bytes the bytes, staged for the path of the list
     * @return this
     */
    public Builder append(StagedBytes bytes) {
      return link(bytes, CompoundStep.LINK_BEHIND);
    }

    /**
     * Change: as {@link #writeFull(StagedBytes)}, for bytes that are the same, as guards of the
     * list have to say. The version stays. The step fails as a guard does while a put to the key is
     * under way, which would be lost.
     *
     * @param bytes the bytes, staged for the path of the list
     * @return this
     */
    public Builder settle(StagedBytes bytes) {
      return link(bytes, CompoundStep.LINK_SAME);
    }

    private Builder link(StagedBytes bytes, int form) {
      staged = bytes;
      byte[] data =
          ByteBuffer.allocate(2 * Long.BYTES)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putLong(bytes.token())
              .putLong(bytes.length())
              .array();
      return add(StepKind.LINK, Comparison.EQUAL, bytes.id(), form, "", data, NONE);
    }

    /**
     * Change: sets the number of bytes. Those that are added are 0.
     *
     * @param size the number of bytes
     * @return this
     */
    public Builder truncate(long size) {
      return add(StepKind.TRUNCATE, Comparison.EQUAL, size);
    }

    /**
     * Change: sets an attribute.
     *
     * @param name its name, 1 to 255 bytes of UTF-8
     * @param value the bytes
     * @return this
     */
    public Builder setAttribute(String name, byte[] value) {
      return add(StepKind.SET_ATTRIBUTE, Comparison.EQUAL, 0, 0, name, value, NONE);
    }

    /**
     * Change: adds to an attribute that is a number as decimal text; a missing one counts as 0. Its
     * number is the sum.
     *
     * @param name its name
     * @param number what is added; may be negative
     * @return this
     */
    public Builder add(String name, long number) {
      return add(StepKind.ADD, Comparison.EQUAL, number, 0, name, NONE, NONE);
    }

    /**
     * Change: removes an attribute; it need not be there.
     *
     * @param name its name
     * @return this
     */
    public Builder removeAttribute(String name) {
      return add(StepKind.REMOVE_ATTRIBUTE, name);
    }

    /**
     * Change: sets an attribute that has a certain value now; otherwise it fails as a guard does.
     *
     * @param name its name
     * @param expected the present value
     * @param value the next one
     * @return this
     */
    public Builder replaceAttribute(String name, byte[] expected, byte[] value) {
      return add(StepKind.REPLACE_ATTRIBUTE, Comparison.EQUAL, 0, 0, name, value, expected);
    }

    /**
     * Change: raises the epoch. It fails as a guard does unless the present one is lower. From then
     * on lists whose guards name an older epoch change nothing: the node is sealed against them.
     *
     * @param epoch the new epoch
     * @return this
     */
    public Builder raiseEpoch(long epoch) {
      return add(StepKind.RAISE_EPOCH, Comparison.EQUAL, epoch);
    }

    /**
     * Change: removes the node.
     *
     * @return this
     */
    public Builder delete() {
      return add(StepKind.DELETE);
    }

    /**
     * Change: performs the steps that a method of the namenode decides; see {@link NodeClass}. If
     * one of them fails, so does this one. It reads the bytes that the method returns.
     *
     * @param method name of the class, a dot, and name of the method, such as {@code lock.acquire}
     * @param input the argument
     * @return this
     */
    public Builder call(String method, byte[] input) {
      return add(StepKind.CALL, Comparison.EQUAL, 0, 0, method, input, NONE);
    }

    /**
     * Change: sets how long the node lives from now on, in place of what was set before. It is
     * removed then, with all that is below it.
     *
     * @param lifetime how long
     * @return this
     */
    public Builder expire(Lifetime lifetime) {
      return add(StepKind.EXPIRE, lifetime);
    }

    /**
     * Change: sets how long each node lives that is made in this container from now on. Those that
     * are there stay as they are, and so do those that are renamed into it.
     *
     * @param lifetime how long, from when a node is made
     * @return this
     */
    public Builder expireChildren(Lifetime lifetime) {
      return add(StepKind.EXPIRE_CHILDREN, lifetime);
    }

    /**
     * Read: how long the node will live if it is not accessed. Its number is that in milliseconds,
     * or -1 if there is no limit.
     *
     * @return this
     */
    public Builder readLifetime() {
      return add(StepKind.READ_LIFETIME);
    }

    /**
     * Read: how long each node lives that will be made in this container. Its number is that in
     * milliseconds, or -1 if there is no limit. It has a byte if the lifetime begins again with
     * each access, otherwise none.
     *
     * @return this
     */
    public Builder readChildrenLifetime() {
      return add(StepKind.READ_CHILDREN_LIFETIME);
    }

    /**
     * Change: limits what a directory or table may hold, with all that is below it. From then on
     * its bytes and names are counted, and {@link #readUsage} reads them. The first time it has to
     * be empty, and of a spread directory, all namenodes have to answer each time. Limits may be
     * below what is there: then nothing is added until there is less.
     *
     * @param bytes the most bytes of space that files and values may have; -1 for any number
     * @param names the most names; -1 for any number
     * @return this
     */
    public Builder limit(long bytes, long names) {
      byte[] data =
          ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(names).array();
      return add(StepKind.LIMIT, bytes, data);
    }

    /**
     * Read: the quota that a directory or table counts for, its own one or that of the nearest
     * directory above it that has one. It fails as a guard does when there is none.
     *
     * @return this
     */
    public Builder readUsage() {
      return add(StepKind.READ_USAGE);
    }

    /**
     * Read: the number of bytes.
     *
     * @return this
     */
    public Builder readSize() {
      return add(StepKind.READ_SIZE);
    }

    /**
     * Read: all attributes.
     *
     * @return this
     */
    public Builder readAttributes() {
      return add(StepKind.READ_ATTRIBUTES);
    }

    /**
     * Read: an attribute. It fails when the node has none of that name.
     *
     * @param name its name
     * @return this
     */
    public Builder readAttribute(String name) {
      return add(StepKind.READ_ATTRIBUTE, name);
    }

    /**
     * Read: bytes from a position on, as many as are asked for or as there are.
     *
     * @param position of the first byte
     * @param length the most bytes
     * @return this
     */
    public Builder read(long position, int length) {
      return add(StepKind.READ_BYTES, Comparison.EQUAL, position, length, "", NONE, NONE);
    }

    /**
     * The list goes on when the step before has failed: that step does nothing then.
     *
     * @return this
     */
    public Builder orGoOn() {
      if (steps.isEmpty()) {
        throw new IllegalStateException("no step before");
      }
      steps.add(steps.remove(steps.size() - 1).going());
      return this;
    }

    /** {@return the list} */
    public CompoundOperation build() {
      return new CompoundOperation(List.copyOf(steps), changes, staged);
    }

    private Builder add(StepKind kind) {
      return add(kind, Comparison.EQUAL, 0);
    }

    private Builder add(StepKind kind, String name) {
      return add(kind, Comparison.EQUAL, 0, 0, name, NONE, NONE);
    }

    private Builder add(StepKind kind, Comparison comparison, long number) {
      return add(kind, comparison, number, 0, "", NONE, NONE);
    }

    private Builder add(StepKind kind, Lifetime lifetime) {
      int counted = lifetime.sinceAccess() ? 1 : 0;
      return add(kind, Comparison.EQUAL, lifetime.millis(), counted, "", NONE, NONE);
    }

    private Builder add(StepKind kind, long position, byte[] data) {
      return add(kind, Comparison.EQUAL, position, 0, "", data, NONE);
    }

    private Builder add(
        StepKind kind,
        Comparison comparison,
        long number,
        int length,
        String name,
        byte[] data,
        byte[] expected) {
      changes |= kind.isChange();
      steps.add(
          new CompoundStep(
              kind.number(),
              comparison.number(),
              false,
              number,
              length,
              Utf8.of(name),
              SmallValue.of(data.clone()),
              SmallValue.of(expected.clone())));
      return this;
    }
  }
}
