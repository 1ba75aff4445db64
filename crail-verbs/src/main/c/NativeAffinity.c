/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native methods of com.ibm.disni.util.NativeAffinity. They throw nothing: DiSNI calls them at
 * the top of its threads, outside of any handler. A thread without its affinity is better than no
 * thread.
 */
#include <jni.h>

#include "affinity.h"

JNIEXPORT void JNICALL Java_com_ibm_disni_util_NativeAffinity__1setAffinity(JNIEnv *env,
                                                                            jclass type,
                                                                            jlong mask) {
  (void)env, (void)type;
  uint64_t word = (uint64_t)mask;
  affinity_set(&word, 1);
}

JNIEXPORT jlong JNICALL Java_com_ibm_disni_util_NativeAffinity__1getAffinity(JNIEnv *env,
                                                                             jclass type) {
  (void)env, (void)type;
  uint64_t mask[AFFINITY_WORDS];
  return affinity_get(mask) > 0 ? (jlong)mask[0] : 0;
}
