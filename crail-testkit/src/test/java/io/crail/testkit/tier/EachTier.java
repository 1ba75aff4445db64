/* SPDX-License-Identifier: Apache-2.0 */
package io.crail.testkit.tier;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.ClassTemplate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A contract: a class whose tests run once over each tier that can be tested here. Its constructor
 * takes the {@link Tier}, or it is {@link Shared}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ClassTemplate
@ExtendWith(TierRuns.class)
@Tag("tiers")
public @interface EachTier {
  /** Needs a datanode alone and no cluster: runs over each tier in all the ways that it has. */
  boolean alone() default false;

  /** Runs over these as well, by their names, which are for those who name them. */
  String[] and() default {};

  /** Runs over these only among the long tests, because similar contracts always run over them. */
  String[] ifLong() default {};

  /** Has nothing to say of these. */
  String[] not() default {};

  /**
   * A contract whose tests share what they start. JUnit makes one instance of it for all tiers
   * ({@code @TestInstance(PER_CLASS)}).
   */
  interface Shared {
    /** Before the first test over a tier. */
    void start(Tier tier) throws Exception;

    /** After the last test over a tier, and when {@link #start} has failed. */
    void stop() throws Exception;
  }
}
