/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.spark.broadcast;

import io.crail.CrailStore;
import io.crail.spark.output.BackgroundDelete;
import io.crail.spark.output.OutputPlace;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.spark.serializer.DeserializationStream;
import org.apache.spark.serializer.SerializationStream;
import org.apache.spark.serializer.Serializer;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** Writes and reads values, each serialized as a whole. Stateless. */
public final class Values {
  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.Object();

  private Values() {}

  /**
   * Writes a value to a new file. If that fails, the file is deleted.
   *
   * @param place where directories come from that are missing
   * @param path of the file
   * @param minBytes serialized values of fewer bytes are not written
   * @param wrap compresses or encrypts; may be called once, or never
   * @param copy gets the bytes of the file, too, as long as it can be written
   * @param deletions takes the file of a value that could not be written
   * @return the file; empty for a small value
   * @throws IOException the error of the store, or of the serializer
   */
  public static Optional<ValueFile> write(
      OutputPlace place,
      String path,
      Serializer serializer,
      Object value,
      long minBytes,
      UnaryOperator<OutputStream> wrap,
      OutputStream copy,
      BackgroundDelete deletions)
      throws IOException {
    ValueOutput file = new ValueOutput(place, path, copy);
    ThresholdOutput out = new ThresholdOutput(minBytes, () -> wrap.apply(file));
    boolean written = false;
    try {
      try (SerializationStream stream = serializer.newInstance().serializeStream(out)) {
        stream.writeObject(value, ANY);
      }
      Optional<ValueFile> sealed = file.isBegun() ? Optional.of(file.seal()) : Optional.empty();
      written = true;
      return sealed;
    } finally {
      if (!written && file.isBegun()) {
        file.abandon();
        deletions.delete(path, false);
      }
    }
  }

  /**
   * Reads a value.
   *
   * @param wrap undoes what was done when it was written
   * @return the value
   * @throws IOException the error of the store, whatever the serializer makes of it
   */
  public static <T> T read(
      ValueFile file, CrailStore store, Serializer serializer, UnaryOperator<InputStream> wrap)
      throws IOException {
    try (ValueInput in = ValueInput.open(file, store)) {
      try {
        return read(in, serializer, wrap);
      } finally {
        in.check();
      }
    }
  }

  /**
   * Reads a value from the bytes of its file.
   *
   * @param in is closed
   * @param wrap undoes what was done when it was written
   * @return the value
   */
  @SuppressWarnings("unchecked")
  public static <T> T read(InputStream in, Serializer serializer, UnaryOperator<InputStream> wrap)
      throws IOException {
    try (DeserializationStream stream =
        serializer.newInstance().deserializeStream(wrap.apply(in))) {
      return (T) stream.readObject(ANY);
    }
  }
}
