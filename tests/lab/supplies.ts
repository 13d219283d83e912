/** The programs and images that worlds are furnished with: looked for once in a process. */
import { dirname } from 'node:path';
import { createSystemClock } from '../../src/base/clock.ts';
import { cacheRoot } from '../../tools/machine/cache.ts';
import { runCommand } from '../../tools/machine/command.ts';
import type { RuntimeBinaries } from '../../tools/machine/containerd.ts';
import { busyboxImage, pauseImage } from '../../tools/machine/images.ts';
import { type Image, makeImage } from '../../tools/machine/oci/image.ts';
import { ensurePackages } from '../../tools/machine/packages.ts';
import { WORLD_PACKAGES } from '../../tools/machine/world.ts';
import { createBinaries } from './binaries/binaries.ts';
import type { BinaryName } from './binaries/catalog.ts';
import { createProgress } from './binaries/progress.ts';
import { ensureGo } from './binaries/toolchain.ts';
import type { Version } from './binaries/version.ts';
import { type BaseImage, ensureBaseImage } from './guest/base-image.ts';
import { QEMU_PACKAGES } from './guest/qemu.ts';
import { testserverImage } from './images/testserver.ts';

/** What people run today, and what Debian 12 has. */
export type RuntimeName = 'containerd-2.4' | 'containerd-1.6';

export interface Supplies {
  runtime(name: RuntimeName): Promise<RuntimeBinaries>;
  images(): Promise<readonly Image[]>;
  referenceKubelet(): Promise<string>;
  /** The disk and kernel of guests, and qemu for them. */
  guestBase(): Promise<BaseImage>;
  /** Any other program of the catalog, by its name. */
  ensure<N extends BinaryName>(...names: readonly N[]): Promise<Record<N, string>>;
}

/** HTTP/2 without TLS is in the standard library from here on. */
const TESTSERVER_GO: Version = [1, 24, 0];

export function createSupplies(env: NodeJS.ProcessEnv): Supplies {
  const clock = createSystemClock();
  const progress = createProgress(process.stderr, clock);
  const binaries = createBinaries({ env, log: progress, clock });
  const cacheDirectory = cacheRoot(env);
  const never = new AbortController().signal;
  const toolchain = () =>
    ensureGo(
      {
        env,
        cacheDir: cacheDirectory,
        run: runCommand,
        progress,
        clock,
        installPackages: (names) => ensurePackages(names, progress.line),
      },
      TESTSERVER_GO,
      never,
    );
  const ensure = <N extends BinaryName>(...names: readonly N[]) => binaries.ensure(names, never);

  return {
    runtime: once(async (name: RuntimeName) => {
      await ensurePackages(WORLD_PACKAGES, progress.line);
      return await (name === 'containerd-1.6' ? debianRuntime(ensure) : builtRuntime(ensure));
    }),
    images: once(async () => {
      await ensure('busybox', 'catatonit');
      const testserver = testserverImage({ env, run: runCommand, cacheDirectory, toolchain });
      return (await Promise.all([pauseImage(), busyboxImage(), testserver])).map(makeImage);
    }),
    guestBase: once(async () => {
      const installPackages = (names: readonly string[]) => ensurePackages(names, progress.line);
      await installPackages(QEMU_PACKAGES);
      return await ensureBaseImage({ env, cacheDirectory, run: runCommand, installPackages, progress, clock }, never);
    }),
    referenceKubelet: once(async () => (await ensure('kubelet-reference'))['kubelet-reference']),
    ensure,
  };
}

type Ensure = <N extends BinaryName>(...names: readonly N[]) => Promise<Record<N, string>>;

async function builtRuntime(ensure: Ensure): Promise<RuntimeBinaries> {
  const paths = await ensure('containerd', 'containerd-shim-runc-v2', 'ctr', 'runc', 'cni-plugins', 'iptables');
  return {
    name: 'containerd-2.4',
    containerd: paths.containerd,
    ctr: paths.ctr,
    shimDirectory: dirname(paths['containerd-shim-runc-v2']),
    runc: paths.runc,
    cniDirectory: paths['cni-plugins'],
  };
}

async function debianRuntime(ensure: Ensure): Promise<RuntimeBinaries> {
  const paths = await ensure(
    ...(['debian-containerd', 'debian-containerd-shim-runc-v2', 'debian-ctr', 'debian-runc'] as const),
    ...(['cni-plugins', 'iptables'] as const),
  );
  return {
    name: 'containerd-1.6',
    containerd: paths['debian-containerd'],
    ctr: paths['debian-ctr'],
    shimDirectory: dirname(paths['debian-containerd-shim-runc-v2']),
    runc: paths['debian-runc'],
    cniDirectory: paths['cni-plugins'],
  };
}

/** Remembers the answer for each argument; a failure is not remembered. */
function once<A extends readonly unknown[], T>(make: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (...args) => {
    const key = JSON.stringify(args);
    const answer = known.get(key) ?? make(...args);
    known.set(key, answer);
    answer.catch(() => known.delete(key));
    return answer;
  };
}
