/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.cache;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileStatus.AttrFlags;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The status of a file with when it was loaded, as one value in Crail. Blocks belong to a record:
 * the salt is part of their names. A record that takes the place of an older one has the same salt
 * if the content is the same. When the record is removed, since the file is changed through the
 * cache, the next one has another salt. So old blocks are not found any more, even if the file has
 * the same length and time.
 *
 * @param loadedMillis when the source was asked, milliseconds since 1970
 * @param salt of the names of the blocks
 * @param status what the source has answered
 */
record StatusRecord(long loadedMillis, long salt, FileStatus status) {
  private static final byte VERSION = 2;

  /**
   * A file that was changed so shortly before it was looked at may be changed once more without
   * another time. Some file systems count whole seconds.
   */
  static final long RACY_MILLIS = 2_000;

  /** The status of a cached file, without what only its file system knows. */
  private static final class CachedFileStatus extends FileStatus implements EtagSource {
    private static final long serialVersionUID = 1;

    private final String etag;

    CachedFileStatus(
        FileStatus form,
        FsPermission permission,
        Set<AttrFlags> attributes,
        Path path,
        String etag) {
      super(
          form.getLen(),
          false,
          form.getReplication(),
          form.getBlockSize(),
          form.getModificationTime(),
          form.getAccessTime(),
          permission,
          form.getOwner(),
          form.getGroup(),
          null,
          path,
          attributes);
      this.etag = etag;
    }

    /** The mark of the content that its file system gives; null for none. */
    @Override
    public String getEtag() {
      return etag;
    }
  }

  /** Whether a file that has this status now can only change with another time, or mark. */
  static boolean isSettled(FileStatus status, long nowMillis) {
    return nowMillis - status.getModificationTime() >= RACY_MILLIS;
  }

  /**
   * A record of what the source has answered, in a form that does not depend on where it is.
   *
   * @param path that was asked for, which the answer may have in another form
   */
  static StatusRecord of(FileStatus status, Path path, long loadedMillis, long salt) {
    FileStatus plain =
        new CachedFileStatus(
            status,
            // Not a form of it that has bits of its own.
            new FsPermission(status.getPermission().toShort()),
            FileStatus.attributes(
                status.hasAcl(),
                status.isEncrypted(),
                status.isErasureCoded(),
                status.isSnapshotEnabled()),
            path,
            etag(status));
    return new StatusRecord(loadedMillis, salt, plain);
  }

  private static String etag(FileStatus status) {
    return status instanceof EtagSource source ? source.getEtag() : null;
  }

  long length() {
    return status.getLen();
  }

  /** Whether this is young enough to be used. A clock that is behind makes no record young. */
  boolean isFresh(long nowMillis, long ageMillis) {
    return Math.abs(nowMillis - loadedMillis) < ageMillis;
  }

  /** Whether a status that was loaded later is one of the same content. */
  boolean hasContentOf(FileStatus later) {
    return later.isFile()
        && later.getLen() == length()
        && later.getModificationTime() == status.getModificationTime()
        && Objects.equals(etag(later), etag(status));
  }

  /** What the names of the blocks begin with. */
  String identity(int blockBytes) {
    return CacheNames.digest(
        status.getPath().toUri().getPath()
            + "\0"
            + length()
            + "\0"
            + status.getModificationTime()
            + "\0"
            + etag(status)
            + "\0"
            + salt
            + "\0"
            + blockBytes);
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeLong(loadedMillis);
      out.writeLong(salt);
      out.writeUTF(status.getPath().toUri().getPath());
      out.writeLong(status.getLen());
      out.writeShort(status.getReplication());
      out.writeLong(status.getBlockSize());
      out.writeLong(status.getModificationTime());
      out.writeLong(status.getAccessTime());
      out.writeShort(status.getPermission().toShort());
      out.writeUTF(status.getOwner());
      out.writeUTF(status.getGroup());
      out.writeBoolean(status.hasAcl());
      out.writeBoolean(status.isEncrypted());
      out.writeBoolean(status.isErasureCoded());
      out.writeBoolean(status.isSnapshotEnabled());
      String etag = etag(status);
      out.writeBoolean(etag != null);
      out.writeUTF(etag == null ? "" : etag);
    } catch (IOException e) {
      throw new AssertionError("there is no input or output here", e);
    }
    return bytes.toByteArray();
  }

  /**
   * A record; null for one of another path, or of another version of Crail.
   *
   * @param path is that of the status
   */
  static StatusRecord decode(byte[] bytes, Path path) {
    String expected = path.toUri().getPath();
    // To make a path of a text costs more than all the rest.
    return decode(bytes, text -> text.equals(expected) ? path : null);
  }

  /** A record, whose path has neither scheme nor authority; null for another version of Crail. */
  static StatusRecord decode(byte[] bytes) {
    return decode(bytes, text -> new Path(null, null, text));
  }

  private static StatusRecord decode(byte[] bytes, Function<String, Path> paths) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (in.readByte() != VERSION) {
        return null;
      }
      long loadedMillis = in.readLong();
      long salt = in.readLong();
      Path path = paths.apply(in.readUTF());
      if (path == null) {
        return null;
      }
      FileStatus form =
          new FileStatus(
              in.readLong(),
              false,
              in.readShort(),
              in.readLong(),
              in.readLong(),
              in.readLong(),
              new FsPermission(in.readShort()),
              in.readUTF(),
              in.readUTF(),
              path);
      Set<AttrFlags> attributes = EnumSet.noneOf(AttrFlags.class);
      attributes.addAll(
          FileStatus.attributes(
              in.readBoolean(), in.readBoolean(), in.readBoolean(), in.readBoolean()));
      boolean hasEtag = in.readBoolean();
      String etag = in.readUTF();
      return new StatusRecord(
          loadedMillis,
          salt,
          new CachedFileStatus(
              form, form.getPermission(), attributes, path, hasEtag ? etag : null));
    } catch (IOException e) {
      return null;
    }
  }
}
