// What Strata uses of libcurl, as functions that Swift can call: those of libcurl take arguments of any number.
#pragma once

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

// Before it, signatures leave out parameters and headers.
#if LIBCURL_VERSION_NUM < 0x075801
#error "Strata's trait Bucket needs libcurl 7.88.1 or later"
#endif

typedef size_t (*strata_curl_receiver)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode strata_curl_set_text(CURL *handle, CURLoption option, const char *text) {
  return curl_easy_setopt(handle, option, text);
}

static inline CURLcode strata_curl_set_number(CURL *handle, CURLoption option, long number) {
  return curl_easy_setopt(handle, option, number);
}

static inline CURLcode strata_curl_set_headers(CURL *handle, struct curl_slist *headers) {
  return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

// The bytes are not copied: they must be there until the transfer is over.
static inline CURLcode strata_curl_set_body(CURL *handle, const void *bytes, long long length) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
  return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_POSTFIELDS, (const char *)bytes);
}

static inline CURLcode strata_curl_set_receivers(CURL *handle, strata_curl_receiver header, strata_curl_receiver body,
                                                 void *context) {
  CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
  if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
  return code;
}

static inline long strata_curl_status(CURL *handle) {
  long status = 0;
  return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK ? status : 0;
}

// Runs a transfer. A server that closes its end while OpenSSL writes would otherwise end the process by SIGPIPE, since
// libcurl leaves signals alone in a program with threads.
static inline CURLcode strata_curl_perform(CURL *handle) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  int was_pending = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  CURLcode code = curl_easy_perform(handle);
  sigpending(&pending);
  if (!was_pending && sigismember(&pending, SIGPIPE)) {
    int number;
    sigwait(&pipe, &number);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return code;
}
