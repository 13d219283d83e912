/**
 * The front door of the lab: sealed little worlds of real parts, up in a second, gone without a trace.
 *
 *   test('a pod runs', async (t) => {
 *     await using node = await lab.node({ test: t });
 *     await writeFile(join(node.manifestsDirectory, 'web.yaml'), manifest);
 *   });
 */
import { resolve } from 'node:path';
import type { TestContext } from 'node:test';
import { cacheRoot } from '../../tools/machine/cache.ts';
import type { NodeDisks } from '../../tools/machine/disks.ts';
import type { Leftover } from '../../tools/machine/ledger.ts';
import { createNode, type NodeWorld } from '../../tools/machine/node.ts';
import type { Image } from '../../tools/machine/oci/image.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster/cluster.ts';
import { createGuest, type Guest, type GuestOptions } from './guest/guest.ts';
import { judgeLogs, type LoggedWorld, setLogsAside } from './kept-logs.ts';
import { type Registry, type RegistryOptions, startRegistry } from './registry.ts';
import { createSupplies, type RuntimeName } from './supplies.ts';
import { createWorlds, labPlace } from './worlds.ts';

export interface LabNodeOptions {
  /** The running test: if it fails, the logs of every part are kept and their place is printed. */
  readonly test?: TestContext;
  readonly runtime?: RuntimeName;
  /** Which kubelet is started; `none` leaves `node.kubelet` for the test to start (ours, unless it says otherwise). */
  readonly kubelet?: 'ours' | 'reference' | 'none';
  /** Fields of KubeletConfiguration, over those that every world has. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly flags?: readonly string[];
  /** Added to the kubelet's environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeName?: string;
  /** Beside those that every node has. */
  readonly images?: readonly Image[];
  /** More TOML at the end of containerd's configuration. */
  readonly containerdConfig?: string;
  /** Small disks of the node's own, to be filled. */
  readonly disks?: NodeDisks;
  /** Given the path of runc, answers that of the program which takes its place. */
  readonly runc?: (path: string) => Promise<string>;
}

export interface LabNode extends NodeWorld, AsyncDisposable {
  /** CRI, and containerd's own API. */
  readonly runtimeSocket: string;
}

export interface Lab {
  node(options?: LabNodeOptions): Promise<LabNode>;
  /** The same world with the reference kubelet. */
  reference(options?: Omit<LabNodeOptions, 'kubelet'>): Promise<LabNode>;
  /** A control plane in the node's world, and the node joined to it. */
  cluster(options?: ClusterOptions): Promise<Cluster>;
  /** A real registry on the node's loopback: `localhost:5000/…`. It goes with the node. */
  registry(node: LabNode, options?: RegistryOptions): Promise<Registry>;
  /** A machine of its own under qemu, with systemd and cgroup v2; up in about 20 s. */
  guest(options?: GuestOptions): Promise<Guest>;
  /** What worlds left behind that no one owns any more. */
  leftovers(): Promise<readonly Leftover[]>;
}

const REPO_ROOT = resolve(import.meta.dirname, '..', '..');
const OUR_KUBELET = resolve(REPO_ROOT, 'dist', 'kubelet');

export function createLab(env: NodeJS.ProcessEnv): Lab {
  const place = labPlace(env);
  const supplies = createSupplies(env);
  const worlds = createWorlds(place);

  const kubeletBinary = async (choice: LabNodeOptions['kubelet']) =>
    choice === 'reference' ? await supplies.referenceKubelet() : OUR_KUBELET;

  const keep = async <W extends LoggedWorld>(test: TestContext | undefined, create: (id: string) => Promise<W>) => {
    await worlds.sweepOnce();
    let logs = '';
    const made = await worlds.make(create, async (world) => {
      logs = await setLogsAside(world, env);
    });
    test?.after(async () => {
      // A test that hangs until its timeout never gets to the end of its block: the world ends with the test all the same.
      await made[Symbol.asyncDispose]();
      await judgeLogs(test, logs);
    });
    return made;
  };

  const node = async (options: LabNodeOptions = {}): Promise<LabNode> => {
    const choice = options.kubelet ?? 'ours';
    const [runtime, images, binary] = await Promise.all([
      supplies.runtime(options.runtime ?? 'containerd-2.4'),
      supplies.images(),
      kubeletBinary(choice),
    ]);
    const runc = (await options.runc?.(runtime.runc)) ?? runtime.runc;
    const create = (id: string) =>
      createNode({
        place,
        id,
        runtime: { ...runtime, runc },
        images: [...images, ...(options.images ?? [])],
        cacheDirectory: cacheRoot(env),
        nodeName: options.nodeName ?? 'node',
        kubelet: {
          binary,
          ...(options.config === undefined ? {} : { config: options.config }),
          ...(options.flags === undefined ? {} : { flags: options.flags }),
          ...(options.env === undefined ? {} : { env: options.env }),
        },
        ...(options.disks === undefined ? {} : { disks: options.disks }),
        ...(options.containerdConfig === undefined ? {} : { extraContainerdConfig: options.containerdConfig }),
      });
    const made = await keep(options.test, create);
    const labNode = { ...made, runtimeSocket: made.containerd.socket };
    try {
      if (choice !== 'none') await labNode.kubelet.start();
    } catch (error) {
      await labNode[Symbol.asyncDispose]();
      throw error;
    }
    return labNode;
  };

  const guest = async (options: GuestOptions = {}): Promise<Guest> => {
    const base = await supplies.guestBase();
    const runtime = options.runtime === 'containerd-2.4' ? { runtime: await supplies.runtime(options.runtime) } : {};
    const create = (id: string) => createGuest({ place, id, base, repoRoot: REPO_ROOT, ...runtime }, options);
    const made = await keep(options.test, create);
    const stop = async () => await made[Symbol.asyncDispose]();
    return { ...made, stop };
  };

  return {
    node,
    guest,
    reference: (options = {}) => node({ ...options, kubelet: 'reference' }),
    cluster: (options) => startCluster({ node, ensure: supplies.ensure, kubeletBinary }, options),
    registry: async (made, options = {}) =>
      await startRegistry(made, (await supplies.ensure('docker-registry'))['docker-registry'], options),
    leftovers: () => worlds.leftovers(),
  };
}

export const lab: Lab = createLab(process.env);
