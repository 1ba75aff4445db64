/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.client.call;

import io.crail.client.loop.Awaitable;
import io.crail.client.loop.LoopContext;
import io.crail.common.Utf8;
import io.crail.common.error.CrailException;
import io.crail.common.error.ErrorCode;
import io.crail.compound.CompoundOperation;
import io.crail.compound.CompoundResult;
import io.crail.compound.DirectoryUsage;
import io.crail.compound.StepKind;
import io.crail.protocol.NameNodeOperations;
import io.crail.protocol.OperationCall;
import io.crail.protocol.codec.SmallValue;
import io.crail.protocol.node.Operate;
import io.crail.protocol.part.CompoundStep;
import io.crail.protocol.part.StepResult;
import io.crail.protocol.part.UserAttribute;
import io.crail.rpc.ClientLoop;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A compound operation on its way. */
public final class CompoundCall extends OperationCall<Operate.Request, Operate.Response>
    implements Awaitable<CompoundResult> {
  private final LoopContext context;
  private final Operate.Request request;

  /**
   * Creates a call, ready to be submitted.
   *
   * @throws CrailException with INVALID_ARGUMENT for a list that no request can hold
   */
  public CompoundCall(LoopContext context, Utf8 path, CompoundOperation operation, int permissions)
      throws CrailException {
    super(operation.isChange() ? NameNodeOperations.OPERATE : NameNodeOperations.OPERATE_READ);
    check(operation.steps());
    this.context = context;
    this.request = new Operate.Request(permissions, path, operation.steps());
    context.prepare(this, request);
  }

  private static void check(List<CompoundStep> steps) throws CrailException {
    if (steps.isEmpty() || steps.size() > Operate.MAX_STEPS) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "a list of " + steps.size() + " steps, must be 1 to " + Operate.MAX_STEPS);
    }
    for (CompoundStep step : steps) {
      if (step.name().length() > UserAttribute.MAX_NAME
          || step.data().length() > SmallValue.MAX_LENGTH
          || step.expected().length() > SmallValue.MAX_LENGTH) {
        throw ErrorCode.INVALID_ARGUMENT.exception(
            "a name of "
                + step.name().length()
                + " bytes, or a value of "
                + step.data().length()
                + " bytes; at most "
                + UserAttribute.MAX_NAME
                + " and "
                + SmallValue.MAX_LENGTH);
      }
    }
    int bytes = CompoundStep.CODEC.lengthOfAll(steps);
    if (bytes > Operate.MAX_BYTES) {
      throw ErrorCode.INVALID_ARGUMENT.exception(
          "steps of " + bytes + " bytes, at most " + Operate.MAX_BYTES);
    }
  }

  /** Whether this has succeeded, and a node has the bytes that it was to link. */
  boolean hasLinked() {
    CompoundResult result = result();
    for (int i = 0; result.isSuccess() && result.exists() && i < result.count(); i++) {
      if (request.steps().get(i).kind() == StepKind.LINK.number()
          && result.code(i) == ErrorCode.OK) {
        return true;
      }
    }
    return false;
  }

  @Override
  public ClientLoop loop() {
    return context.loop();
  }

  @Override
  public CompoundResult result() {
    return new Result(request, response());
  }

  @Override
  public String toString() {
    return operation() + " " + request.path();
  }

  private record Result(Operate.Request request, Operate.Response response)
      implements CompoundResult {
    @Override
    public boolean isSuccess() {
      return response.failed() == Operate.NONE_FAILED;
    }

    @Override
    public int failedStep() {
      return isSuccess() ? -1 : response.failed();
    }

    @Override
    public CrailException failure() {
      if (isSuccess()) {
        return null;
      }
      int step = response.failed();
      String reason = response.reason().length() == 0 ? "" : ": " + response.reason();
      return code(step)
          .exception(request.path() + ", step " + step + " (" + name(step) + ")" + reason);
    }

    private String name(int step) {
      try {
        return StepKind.of(request.steps().get(step).kind()).toString();
      } catch (CrailException e) {
        throw new AssertionError("a kind that this store has sent", e);
      }
    }

    @Override
    public CompoundResult orThrow() throws CrailException {
      if (!isSuccess()) {
        throw failure();
      }
      return this;
    }

    @Override
    public boolean exists() {
      return response.id() != 0;
    }

    @Override
    public long id() {
      return response.id();
    }

    @Override
    public long size() {
      return response.size();
    }

    @Override
    public long version() {
      return response.version();
    }

    @Override
    public long epoch() {
      return response.epoch();
    }

    @Override
    public int count() {
      return response.results().size();
    }

    private StepResult at(int step) {
      return response.results().get(step);
    }

    @Override
    public ErrorCode code(int step) {
      return ErrorCode.of(at(step).code());
    }

    @Override
    public long number(int step) {
      return at(step).number();
    }

    @Override
    public byte[] bytes(int step) {
      return at(step).data().bytes().clone();
    }

    @Override
    public Map<String, byte[]> attributes(int step) {
      boolean hasThem =
          request.steps().get(step).kind() == StepKind.READ_ATTRIBUTES.number()
              && code(step) == ErrorCode.OK;
      if (!hasThem) {
        throw new IllegalStateException("step " + step + " has read no attributes");
      }
      Map<String, byte[]> attributes = new LinkedHashMap<>();
      ByteBuffer in = ByteBuffer.wrap(at(step).data().bytes()).order(ByteOrder.LITTLE_ENDIAN);
      try {
        for (UserAttribute each :
            UserAttribute.CODEC.decodeAll(in, 0, (int) number(step), in.capacity())) {
          attributes.put(each.name().toString(), each.value().bytes().clone());
        }
      } catch (CrailException e) {
        throw new IllegalStateException("attributes that cannot be read", e);
      }
      return attributes;
    }

    @Override
    public DirectoryUsage usage(int step) {
      boolean hasIt =
          request.steps().get(step).kind() == StepKind.READ_USAGE.number()
              && code(step) == ErrorCode.OK;
      if (!hasIt) {
        throw new IllegalStateException("step " + step + " has read no usage");
      }
      try {
        return DirectoryUsage.of(at(step).data().bytes());
      } catch (CrailException e) {
        throw new IllegalStateException("a usage that cannot be read", e);
      }
    }
  }
}
