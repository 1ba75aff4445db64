/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Watches the tests of every module that has this module on its test class path. JUnit finds it by
 * itself.
 */
package io.crail.testguard;
