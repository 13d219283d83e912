/**
 * The chains of iptables that the kubelet keeps for others: KUBE-IPTABLES-HINT shows which of the two backends the node uses, KUBE-FIREWALL
 * protects what listens on loopback from the network, and KUBE-KUBELET-CANARY is there to be missed when someone flushes a table. The reference
 * has made no others since 1.28; KUBE-MARK-MASQ, KUBE-POSTROUTING and KUBE-MARK-DROP of older kubelets come back where their bit is configured.
 */

export type IpFamily = 4 | 6;

export interface MarkBits {
  /** Of packets that leave with the address of the node; undefined: no such chain. */
  readonly masquerade: number | undefined;
  /** Of packets to drop; undefined: no such chain. */
  readonly drop: number | undefined;
}

/** In the form in which `iptables -S` prints it: rules are compared as texts. */
export interface PacketRule {
  readonly chain: string;
  readonly text: string;
  /** Before the rules of others. */
  readonly first: boolean;
}

export interface PacketTable {
  readonly name: string;
  readonly chains: readonly string[];
  readonly rules: readonly PacketRule[];
}

/** What a table has now: the rules of each chain, undefined where there is no such chain. */
export type ReadChains = ReadonlyMap<string, readonly string[] | undefined>;

const CANARY = 'KUBE-KUBELET-CANARY';
const HINT = 'KUBE-IPTABLES-HINT';
const FIREWALL = 'KUBE-FIREWALL';
const MARK_MASQ = 'KUBE-MARK-MASQ';
const POSTROUTING = 'KUBE-POSTROUTING';
const MARK_DROP = 'KUBE-MARK-DROP';

const LOCALNET =
  '! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP';

export function packetTables(family: IpFamily, bits: MarkBits): readonly PacketTable[] {
  return [{ name: 'mangle', chains: [HINT, CANARY], rules: [] }, filterTable(family, bits), natTable(bits)];
}

/** The kernel lets only IPv4 reach loopback addresses from outside. */
function filterTable(family: IpFamily, { drop }: MarkBits): PacketTable {
  const localnet = family === 4 ? [append(FIREWALL, LOCALNET)] : [];
  const marked = drop === undefined ? [] : [append(FIREWALL, dropMarked(markOf(drop)))];
  const rules = [...marked, ...localnet];
  if (rules.length === 0) return { name: 'filter', chains: [CANARY], rules: [] };
  const jumps = ['OUTPUT', 'INPUT'].map((chain) => ({ chain, text: `-A ${chain} -j ${FIREWALL}`, first: true }));
  return { name: 'filter', chains: [FIREWALL, CANARY], rules: [...rules, ...jumps] };
}

function natTable({ masquerade, drop }: MarkBits): PacketTable {
  const marking = drop === undefined ? [] : [append(MARK_DROP, `-j MARK --set-xmark ${markOf(drop)}/${markOf(drop)}`)];
  const chains = drop === undefined ? [] : [MARK_DROP];
  if (masquerade === undefined) return { name: 'nat', chains: [...chains, CANARY], rules: marking };
  const mark = markOf(masquerade);
  return {
    name: 'nat',
    chains: [...chains, MARK_MASQ, POSTROUTING, CANARY],
    rules: [
      ...marking,
      append(MARK_MASQ, `-j MARK --set-xmark ${mark}/${mark}`),
      append(POSTROUTING, `-m mark ! --mark ${mark}/${mark} -j RETURN`),
      // The mark goes, so that a packet that comes by once more is not marked by accident.
      append(POSTROUTING, `-j MARK --set-xmark ${mark}/0x0`),
      append(
        POSTROUTING,
        '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully',
      ),
      {
        chain: 'POSTROUTING',
        text: `-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j ${POSTROUTING}`,
        first: true,
      },
    ],
  };
}

const append = (chain: string, text: string): PacketRule => ({ chain, text: `-A ${chain} ${text}`, first: false });

const markOf = (bit: number): string => `0x${(2 ** bit).toString(16)}`;

const dropMarked = (mark: string): string =>
  `-m comment --comment "kubernetes firewall for dropping marked packets" -m mark --mark ${mark}/${mark} -j DROP`;

/** The chains to read: the kubelet's own, and those with rules of it. */
export const chainsToRead = ({ chains, rules }: PacketTable): readonly string[] => [
  ...new Set([...chains, ...rules.map(({ chain }) => chain)]),
];

/**
 * The lines of `iptables-restore` for what is missing, empty where nothing is. A chain that exists is not declared, since that would
 * remove the rules that others have put there.
 */
export function missingLines({ name, chains, rules }: PacketTable, now: ReadChains): readonly string[] {
  const newChains = chains.filter((chain) => now.get(chain) === undefined);
  const newRules = rules.filter(({ chain, text }) => now.get(chain)?.includes(text) !== true);
  if (newChains.length === 0 && newRules.length === 0) return [];
  const lines = newRules.map(({ text, first }) => (first ? text.replace(/^-A/, '-I') : text));
  return [`*${name}`, ...newChains.map((chain) => `:${chain} - [0:0]`), ...lines, 'COMMIT'];
}

/** Whether something that was deleted may be the kubelet's. Undefined chain: the whole table. */
export function concerns(
  tables: readonly PacketTable[],
  deleted: { readonly table: string; readonly chain: string | undefined },
): boolean {
  const table = tables.find(({ name }) => name === deleted.table);
  return table !== undefined && (deleted.chain === undefined || chainsToRead(table).includes(deleted.chain));
}
