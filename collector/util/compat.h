/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One binary for every glibc from 2.17 on. glibc 2.32 to 2.34 moved functions of libdl and
 * libpthread into libc with new versions; a library that requests those fails to load on an older
 * system. So this file requests their first versions, which later ones keep. The Makefile includes
 * it ahead of each file of preload/ and collector/.
 */
#ifndef COLLECTOR_UTIL_COMPAT_H
#define COLLECTOR_UTIL_COMPAT_H

/* Sanitizers replace these functions themselves. */
#if defined(__linux__)
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#if defined(__x86_64__)
#define COMPAT_FIRST "GLIBC_2.2.5"
#define COMPAT_2_3_3 "GLIBC_2.3.3"
#elif defined(__aarch64__)
#define COMPAT_FIRST "GLIBC_2.17"
#define COMPAT_2_3_3 "GLIBC_2.17"
#endif

#define COMPAT_VERSION(name, version) __asm__(".symver " #name "," #name "@" version)

#ifdef COMPAT_FIRST
#ifndef COMPAT_OWN_LOADER /* hooks_dl.c replaces every version of these */
COMPAT_VERSION(dlclose, COMPAT_FIRST);
COMPAT_VERSION(dlopen, COMPAT_FIRST);
#endif
COMPAT_VERSION(dlsym, COMPAT_FIRST);
COMPAT_VERSION(dlvsym, COMPAT_FIRST);
COMPAT_VERSION(dladdr1, COMPAT_2_3_3);
COMPAT_VERSION(dlinfo, COMPAT_2_3_3);
COMPAT_VERSION(pthread_attr_setstacksize, COMPAT_FIRST);
COMPAT_VERSION(pthread_key_create, COMPAT_FIRST);
COMPAT_VERSION(pthread_setcancelstate, COMPAT_FIRST);
COMPAT_VERSION(pthread_setspecific, COMPAT_FIRST);
COMPAT_VERSION(pthread_sigmask, COMPAT_FIRST);
#endif

#endif
#endif

/*
 * Before 2.34 these are in libdl, which is not required because most programs would load it for
 * nothing: one that can load CUDA has it. In other programs these are absent.
 */
#pragma weak dladdr1
#pragma weak dlclose
#pragma weak dlinfo
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlvsym /* musl has none */

/*
 * Before 2.34 a program may run without libpthread. It has no threads and no CUDA then, so nothing
 * is recorded; but a reference to these functions must not kill it.
 */
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_key_create
#pragma weak pthread_setcancelstate
#pragma weak pthread_setspecific
#pragma weak pthread_sigmask

/*
 * For the little data that every process touches: it is on a page that the loader has already
 * written. Another page takes some 3 us of each start.
 */
#define COMPAT_AT_START __attribute__((section(".data")))

/*
 * For data that must not share that page: it follows all the other data, so that the rest of the
 * page is not wasted.
 */
#define COMPAT_APART __attribute__((section(".data1")))

/*
 * For code that every process runs: it is next to the constructor and the loader's tables, so that
 * one page fault loads all of it.
 */
#define COMPAT_START_CODE __attribute__((section(".text.startup")))

#endif
