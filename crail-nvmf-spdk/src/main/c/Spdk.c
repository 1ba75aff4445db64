/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native methods of io.crail.nvmf.spdk.Spdk. javac makes their prototypes, and Spdk.java
 * documents them.
 */
#include "io_crail_nvmf_spdk_Spdk.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <spdk/string.h>

#include "controller.h"
#include "environment.h"
#include "io_crail_nvmf_spdk_SpdkLayout.h"

#define NATIVE(type, name) JNIEXPORT type JNICALL Java_io_crail_nvmf_spdk_Spdk_##name
#define CONTROLLER(handle) ((struct controller *)(uintptr_t)(handle))

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *machine, void *reserved) {
  (void)machine, (void)reserved;
  environment_give_back_signals();
  return JNI_VERSION_1_8;
}

NATIVE(jint, abi)(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return io_crail_nvmf_spdk_Spdk_ABI;
}

/* What SPDK says may hold a name that is no UTF-8. */
static void make_printable(char *text) {
  for (char *at = text; *at != '\0'; at++) {
    if (*at < ' ' || *at > '~') {
      *at = '?';
    }
  }
}

NATIVE(jstring, start)(JNIEnv *env, jclass type, jint memory, jboolean no_huge) {
  (void)type;
  const char *problem = environment_start(memory, no_huge);
  if (problem == NULL) {
    return NULL;
  }
  char text[640];
  snprintf(text, sizeof text, "%s", problem);
  make_printable(text);
  return (*env)->NewStringUTF(env, text);
}

static void fail(JNIEnv *env, int error) {
  jclass type = (*env)->FindClass(env, "java/io/IOException");
  if (type == NULL) {
    return;
  }
  char text[560];
  const char *words = environment_words();
  if (words[0] != '\0') {
    snprintf(text, sizeof text, "SPDK: %s", words);
  } else {
    snprintf(text, sizeof text, "SPDK: %s", spdk_strerror(-error));
  }
  make_printable(text);
  (*env)->ThrowNew(env, type, text);
}

NATIVE(jint, connectStatus)(JNIEnv *env, jclass type) {
  (void)env, (void)type;
  return environment_connect_status();
}

NATIVE(jlong, connect)(JNIEnv *env, jclass type, jstring target, jstring host, jbyteArray host_id,
                       jint keep_alive_millis, jint timeout_millis, jint depth, jboolean header_digest,
                       jboolean data_digest) {
  (void)type;
  struct controller_wish wish = {
      .keep_alive_millis = (uint32_t)keep_alive_millis,
      .timeout_millis = (uint32_t)timeout_millis,
      .depth = (uint32_t)depth,
      .header_digest = header_digest,
      .data_digest = data_digest,
  };
  (*env)->GetByteArrayRegion(env, host_id, 0, sizeof wish.host_id, (jbyte *)wish.host_id);
  if ((*env)->ExceptionCheck(env)) {
    return 0;
  }
  struct controller *made = NULL;
  wish.target = (*env)->GetStringUTFChars(env, target, NULL);
  if (wish.target == NULL) {
    return 0;
  }
  wish.host = (*env)->GetStringUTFChars(env, host, NULL);
  if (wish.host != NULL) {
    environment_forget_words();
    int result = controller_connect(&wish, &made);
    if (result < 0) {
      fail(env, result);
    }
    (*env)->ReleaseStringUTFChars(env, host, wish.host);
  }
  (*env)->ReleaseStringUTFChars(env, target, wish.target);
  return (jlong)(uintptr_t)made;
}

NATIVE(jint, depth)(JNIEnv *env, jclass type, jlong controller) {
  (void)env, (void)type;
  return (jint)controller_depth(CONTROLLER(controller));
}

NATIVE(jlong, keepAliveMillis)(JNIEnv *env, jclass type, jlong controller) {
  (void)env, (void)type;
  return (jlong)controller_keep_alive(CONTROLLER(controller));
}

NATIVE(jint, maxTransfer)(JNIEnv *env, jclass type, jlong controller) {
  (void)env, (void)type;
  uint32_t most = controller_max_transfer(CONTROLLER(controller));
  return most > INT32_MAX ? INT32_MAX : (jint)most;
}

/* Copies the answer to an identify; whether there is one. */
static jboolean answer(JNIEnv *env, const void *data, jobject out) {
  void *to = (*env)->GetDirectBufferAddress(env, out);
  if (data == NULL || to == NULL
      || (*env)->GetDirectBufferCapacity(env, out) < io_crail_nvmf_spdk_SpdkLayout_IDENTIFY_DATA) {
    return JNI_FALSE;
  }
  memcpy(to, data, io_crail_nvmf_spdk_SpdkLayout_IDENTIFY_DATA);
  return JNI_TRUE;
}

NATIVE(jboolean, data)(JNIEnv *env, jclass type, jlong controller, jobject out) {
  (void)type;
  return answer(env, controller_data(CONTROLLER(controller)), out);
}

NATIVE(jint, nextNamespace)(JNIEnv *env, jclass type, jlong controller, jint after) {
  (void)env, (void)type;
  return (jint)controller_next_namespace(CONTROLLER(controller), (uint32_t)after);
}

NATIVE(jboolean, namespaceData)(JNIEnv *env, jclass type, jlong controller, jint number, jobject out) {
  (void)type;
  return answer(env, controller_namespace_data(CONTROLLER(controller), (uint32_t)number), out);
}

NATIVE(void, open)(JNIEnv *env, jclass type, jlong controller, jobject rings, jint depth,
                   jobject places) {
  (void)type;
  void *ring_memory = (*env)->GetDirectBufferAddress(env, rings);
  jlong ring_bytes = (*env)->GetDirectBufferCapacity(env, rings);
  size_t needed =
      (size_t)(uint32_t)depth * (sizeof(struct crail_submission) + sizeof(struct crail_completion));
  void *place_memory = NULL;
  size_t place_bytes = 0;
  if (places != NULL) {
    place_memory = (*env)->GetDirectBufferAddress(env, places);
    place_bytes = (size_t)(*env)->GetDirectBufferCapacity(env, places);
  }
  environment_forget_words();
  int result = -EINVAL;
  if (ring_memory != NULL && ring_bytes >= 0 && (size_t)ring_bytes >= needed
      && (places == NULL || place_memory != NULL)) {
    result = controller_open(CONTROLLER(controller), ring_memory, (uint32_t)depth, place_memory,
                             place_bytes);
  }
  if (result < 0) {
    fail(env, result);
  }
}

NATIVE(jlong, address)(JNIEnv *env, jclass type, jobject memory) {
  (void)type;
  return (jlong)(uintptr_t)(*env)->GetDirectBufferAddress(env, memory);
}

NATIVE(jint, poll)(JNIEnv *env, jclass type, jlong controller, jint submissions) {
  (void)env, (void)type;
  return controller_poll(CONTROLLER(controller), (uint32_t)submissions);
}

NATIVE(jint, pollAdmin)(JNIEnv *env, jclass type, jlong controller) {
  (void)env, (void)type;
  return controller_poll_admin(CONTROLLER(controller));
}

NATIVE(void, stop)(JNIEnv *env, jclass type, jlong controller) {
  (void)env, (void)type;
  controller_stop(CONTROLLER(controller));
}

NATIVE(void, destroy)(JNIEnv *env, jclass type, jlong controller) {
  (void)env, (void)type;
  controller_destroy(CONTROLLER(controller));
}
