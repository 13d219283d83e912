/** The network of `--network-plugin=kubenet`: a bridge of this node for the networks of its pods, in the form of CNI that every runtime reads. */

export interface KubenetRequest {
  /** One network, or one of each family with a comma. */
  readonly podCidr: string;
  /** `promiscuous-bridge`, `hairpin-veth` or `none`: how a pod reaches itself by the address of a service. */
  readonly hairpinMode: string;
  /** The programs that the directories of CNI plugins have. */
  readonly plugins: ReadonlySet<string>;
}

/** Sorts before what other programs write: runtimes use the first file. */
export const KUBENET_FILE = '10-kubenet.conflist';

const NEEDED = ['bridge', 'host-local', 'portmap'];
const BRIDGE = 'cbr0';

/** The programs without which the network can't work. */
export const missingPlugins = (plugins: ReadonlySet<string>): readonly string[] =>
  NEEDED.filter((name) => !plugins.has(name));

export function renderKubenet({ podCidr, hairpinMode, plugins }: KubenetRequest): string {
  const subnets = podCidr.split(',').map((part) => part.trim());
  const bridge = {
    type: 'bridge',
    bridge: BRIDGE,
    isGateway: true,
    ipMasq: true,
    hairpinMode: hairpinMode === 'hairpin-veth',
    promiscMode: hairpinMode === 'promiscuous-bridge',
    ipam: {
      type: 'host-local',
      ranges: subnets.map((subnet) => [{ subnet }]),
      routes: subnets.map((subnet) => ({ dst: subnet.includes(':') ? '::/0' : '0.0.0.0/0' })),
    },
  };
  const ports = { type: 'portmap', capabilities: { portMappings: true } };
  // The annotations kubernetes.io/ingress-bandwidth and kubernetes.io/egress-bandwidth of a pod: the runtime passes them on.
  const bandwidth = plugins.has('bandwidth') ? [{ type: 'bandwidth', capabilities: { bandwidth: true } }] : [];
  const network = { cniVersion: '0.4.0', name: 'kubenet', plugins: [bridge, ports, ...bandwidth] };
  return `${JSON.stringify(network, undefined, 2)}\n`;
}

/** Where a runtime reads networks and plugins from; empty where it does not say. */
export interface RuntimeDirectories {
  readonly confDir: string;
  readonly binDirs: readonly string[];
}

/** From the verbose status of containerd: a configuration in JSON. Another runtime says nothing that is understood here. */
export function runtimeDirectories(config: string | undefined): RuntimeDirectories {
  const nothing = { confDir: '', binDirs: [] };
  if (config === undefined) return nothing;
  let cni: unknown;
  try {
    cni = Object(JSON.parse(config)).cni;
  } catch {
    return nothing; // not JSON: not a runtime that describes itself in this way
  }
  const { confDir, binDir, binDirs } = Object(cni);
  const listed = Array.isArray(binDirs) ? binDirs : [binDir];
  return {
    confDir: typeof confDir === 'string' ? confDir : '',
    binDirs: listed.filter((one): one is string => typeof one === 'string' && one !== ''),
  };
}

export interface AskedDirectories {
  readonly confDir: string;
  readonly binDirs: readonly string[];
}

/** Why the directories that the flags name can have no effect: the runtime, which runs the plugins, uses others. */
export function directoryProblems(asked: AskedDirectories, runtime: RuntimeDirectories): readonly string[] {
  const inRuntime = 'only the configuration of the container runtime decides this';
  const unused = runtime.binDirs.length === 0 ? [] : asked.binDirs.filter((one) => !runtime.binDirs.includes(one));
  return [
    ...(runtime.confDir === '' || runtime.confDir === asked.confDir
      ? []
      : [`--cni-conf-dir is ${asked.confDir}, the container runtime reads ${runtime.confDir}: ${inRuntime}`]),
    ...(unused.length === 0
      ? []
      : [
          `--cni-bin-dir is ${unused.join(',')}, the container runtime uses ${runtime.binDirs.join(',')}: ${inRuntime}`,
        ]),
  ];
}
