/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Counts nodes, and space class by class. */
public final class Usage {
  /** Most storage classes. */
  public static final int MAX_CLASSES = 256;

  private Usage() {}

  /** The request. */
  public record Request() {
    /** The layout. */
    public static final Layout LAYOUT = Layout.of("Usage.Request");

    /** The codec. */
    public static final Codec<Request> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public void encode(Request message, ByteBuffer out, int offset) {}

          @Override
          protected Request read(ByteBuffer in, int offset) {
            return new Request();
          }
        };
  }

  /**
   * The answer.
   *
   * @param nodes nodes, the root included
   * @param datanodes registered datanodes
   * @param onlineDatanodes datanodes heard of lately
   * @param smallValueBytes memory that the small values of the namenode take
   * @param classes space of each storage class that has datanodes
   */
  public record Response(
      long nodes,
      int datanodes,
      int onlineDatanodes,
      long smallValueBytes,
      List<ClassUsage> classes) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Usage.Response")
            .i64("nodes", "nodes, the root included")
            .i32("datanodes", "registered datanodes")
            .i32("onlineDatanodes", "datanodes heard of lately")
            .i64("smallValueBytes", "memory that the small values of the namenode take")
            .u16("classesCount", "number of classes")
            .list("classes", "classesCount", ClassUsage.LAYOUT, MAX_CLASSES);

    static final int NODES = LAYOUT.offset("nodes");
    static final int DATANODES = LAYOUT.offset("datanodes");
    static final int ONLINE_DATANODES = LAYOUT.offset("onlineDatanodes");
    static final int SMALL_VALUE_BYTES = LAYOUT.offset("smallValueBytes");
    static final int CLASSES_COUNT = LAYOUT.offset("classesCount");

    /** The codec. */
    public static final Codec<Response> CODEC =
        new Codec<>(LAYOUT) {
          @Override
          public int length(Response message) {
            return LAYOUT.fixedLength() + message.classes.size() * ClassUsage.LAYOUT.fixedLength();
          }

          @Override
          public void encode(Response message, ByteBuffer out, int offset) {
            out.putLong(offset + NODES, message.nodes);
            out.putInt(offset + DATANODES, message.datanodes);
            out.putInt(offset + ONLINE_DATANODES, message.onlineDatanodes);
            out.putLong(offset + SMALL_VALUE_BYTES, message.smallValueBytes);
            out.putShort(offset + CLASSES_COUNT, (short) message.classes.size());
            int at = offset + LAYOUT.fixedLength();
            for (ClassUsage element : message.classes) {
              element.encode(out, at);
              at += ClassUsage.LAYOUT.fixedLength();
            }
          }

          @Override
          protected Response read(ByteBuffer in, int offset) {
            int at = offset + LAYOUT.fixedLength();
            int classesCount = in.getShort(offset + CLASSES_COUNT) & 0xffff;
            List<ClassUsage> classes = new ArrayList<>(classesCount);
            for (int i = 0; i < classesCount; i++) {
              classes.add(ClassUsage.read(in, at));
              at += ClassUsage.LAYOUT.fixedLength();
            }
            return new Response(
                in.getLong(offset + NODES),
                in.getInt(offset + DATANODES),
                in.getInt(offset + ONLINE_DATANODES),
                in.getLong(offset + SMALL_VALUE_BYTES),
                classes);
          }
        };
  }
}
