/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.protocol.node;

import io.crail.common.Utf8;
import io.crail.protocol.codec.Codec;
import io.crail.protocol.codec.Layout;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.SpreadPath;
import io.crail.protocol.part.StepResult;
import java.util.List;
import java.util.function.UnaryOperator;

/** Performs a list of steps on one node: all of them at once, or none. */
public final class Operate {
  /** Most steps in a list. */
  public static final int MAX_STEPS = 128;

  /** Most bytes of all steps of a list, or of all results. */
  public static final int MAX_BYTES = 68 << 10;

  /** Most bytes of a reason. */
  public static final int MAX_REASON = 800;

  /** The number of the failed step when none has failed. */
  public static final int NONE_FAILED = 0xff;

  private Operate() {}

  /**
   * The request.
   *
   * @param permissions twelve permission bits of a node that it makes
   * @param path the path, in the form of NodePath or SpreadPath
   * @param steps the steps
   */
  public record Request(int permissions, Utf8 path, List<CompoundStep> steps) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Operate.Request")
            .u16("permissions", "permission bits of a node that it makes, 0 to 07777")
            .u16("pathLength", "bytes of path")
            .u16("stepsCount", "number of steps")
            .i32("stepsLength", "bytes of steps")
            .bytes("path", "pathLength", 1, SpreadPath.MAX_LENGTH, SpreadPath.MEANING)
            .page("steps", "stepsCount", "stepsLength", CompoundStep.CODEC, MAX_BYTES);

    /** The codec. */
    public static final Codec<Request> CODEC = Codec.of(Request.class, LAYOUT);

    /** The same request with its path in another form. */
    public Request by(UnaryOperator<Utf8> form) {
      return new Request(permissions, form.apply(path), steps);
    }
  }

  /**
   * The answer.
   *
   * @param failed the first step that failed and ended the list, so that nothing was changed;
   *     {@link #NONE_FAILED} for none
   * @param id the node's id afterwards; 0 for no node
   * @param size its bytes
   * @param version how often lists have changed it
   * @param epoch its epoch
   * @param reason why the step failed, for people; may be empty
   * @param results of the steps up to the failed one
   */
  public record Response(
      int failed,
      long id,
      long size,
      long version,
      long epoch,
      Utf8 reason,
      List<StepResult> results) {
    /** The layout. */
    public static final Layout LAYOUT =
        Layout.of("Operate.Response")
            .u8("failed", "the step that ended the list, which changed nothing then; 255 for none")
            .i64("id", "node id afterwards; 0 for no node")
            .i64("size", "its bytes")
            .i64("version", "how often lists have changed it")
            .i64("epoch", "its epoch")
            .u16("resultsCount", "number of results")
            .i32("resultsLength", "bytes of results")
            .u16("reasonLength", "bytes of reason")
            .bytes("reason", "reasonLength", 0, MAX_REASON, "why the step failed, for people")
            .page("results", "resultsCount", "resultsLength", StepResult.CODEC, MAX_BYTES);

    /** The codec. */
    public static final Codec<Response> CODEC = Codec.of(Response.class, LAYOUT);
  }
}
