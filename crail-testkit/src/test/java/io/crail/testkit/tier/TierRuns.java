/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.BeforeClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContext;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContextProvider;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/** Runs a contract over its tiers, for {@link EachTier}. */
final class TierRuns implements ClassTemplateInvocationContextProvider {
  private static final boolean IS_LONG = Boolean.getBoolean("crail.test.long");

  @Override
  public boolean supportsClassTemplate(ExtensionContext context) {
    return true;
  }

  @Override
  public boolean mayReturnZeroClassTemplateInvocationContexts(ExtensionContext context) {
    return true;
  }

  @Override
  public Stream<TierRun> provideClassTemplateInvocationContexts(ExtensionContext context) {
    EachTier contract = context.getRequiredTestClass().getAnnotation(EachTier.class);
    List<Tier> tiers = Tier.values().stream().filter(tier -> tier.isFor(contract)).toList();
    List<String> later = IS_LONG ? List.of() : List.of(contract.ifLong());
    List<Tier> now = tiers.stream().filter(tier -> !later.contains(tier.toString())).toList();
    Assumptions.assumeTrue(
        !now.isEmpty() || tiers.isEmpty(),
        "more of the same on an emulated machine: only among the long tests");
    return now.stream().map(TierRun::new);
  }

  /** What went wrong, and over which tier. */
  private static final class FailedOver extends AssertionError {
    FailedOver(Tier tier, Throwable cause) {
      super("over " + tier + ": " + cause, cause);
      setStackTrace(new StackTraceElement[0]);
    }
  }

  /** All tests of a contract over one tier. */
  private record TierRun(Tier tier)
      implements ClassTemplateInvocationContext,
          ParameterResolver,
          BeforeClassTemplateInvocationCallback,
          AfterClassTemplateInvocationCallback,
          TestExecutionExceptionHandler {
    @Override
    public String getDisplayName(int number) {
      return tier.toString();
    }

    @Override
    public List<Extension> getAdditionalExtensions() {
      return List.of(this);
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == Tier.class;
    }

    @Override
    public Tier resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return tier;
    }

    @Override
    public void beforeClassTemplateInvocation(ExtensionContext context) {
      tier.assumePresent();
      if (context.getTestInstance().orElse(null) instanceof EachTier.Shared shared) {
        try {
          shared.start(tier);
        } catch (Throwable e) {
          handleTestExecutionException(context, e);
        }
      }
    }

    @Override
    public void afterClassTemplateInvocation(ExtensionContext context) throws Exception {
      if (context.getTestInstance().orElse(null) instanceof EachTier.Shared shared) {
        shared.stop();
      }
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable thrown) {
      if (thrown instanceof TestAbortedException skipped) {
        throw skipped;
      }
      // Reports number the runs of a class and do not name them.
      throw new FailedOver(tier, thrown);
    }
  }
}
