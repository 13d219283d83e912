/**
 * A wall clock of its own for one program, which a test sets while the program runs. The machine has one clock, and it belongs to
 * everyone on it: a library that is loaded before the C library adds an offset from a shared file to whatever the kernel says. It covers
 * Node and the OpenSSL inside it; a Go program asks the kernel without the C library.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../tools/machine/command.ts';
import { ensurePackages } from '../../tools/machine/packages.ts';

export interface SettableClock {
  /** For the program's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** How far it is ahead of the machine's clock from now on; negative: behind. */
  set(seconds: number): Promise<void>;
}

const SOURCE = `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const volatile long *offset;
__attribute__((constructor)) static void open_offset(void) {
  const char *path = getenv("TEST_CLOCK_OFFSET");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *map = fd < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (map != MAP_FAILED) offset = map;
}
int clock_gettime(clockid_t id, struct timespec *at) {
  int code = syscall(SYS_clock_gettime, id, at);
  if (code == 0 && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += *offset;
  return code;
}
int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  int code = clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return code;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
`;

/** `directory` must be seen by the program under the same path. */
export async function makeSettableClock(directory: string): Promise<SettableClock> {
  await ensurePackages(['gcc', 'libc6-dev'], () => undefined);
  const [source, library, offset] = ['clock.c', 'clock.so', 'clock-offset'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const set = async (seconds: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // In place: the program has this very file mapped.
    await writeFile(offset, bytes, { flag: 'r+' }).catch(() => writeFile(offset, bytes));
  };
  await set(0);
  await writeFile(source, SOURCE);
  const { code, lastLines } = await runCommand({
    argv: ['gcc', '-O2', '-shared', '-fPIC', '-o', library, source],
    env: process.env,
  });
  if (code !== 0) throw new Error(`gcc: ${lastLines.join('\n')}`);
  return { env: { LD_PRELOAD: library, TEST_CLOCK_OFFSET: offset }, set };
}
