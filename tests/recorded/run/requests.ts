/**
 * What a kubelet asked of the runtime for one pod, as lines: from the recording, and from a proxy in front of the runtime's socket.
 *
 * Each sandbox and container has its own lines, in the order of its calls: who of several comes first is chance. What is removed, and
 * when, is not compared here: that nothing is left is, and the order of calls is in src/plan/recorded.test.ts.
 */
import { decode } from '../../../src/wire/decode.ts';
import {
  CreateContainerRequest,
  CreateContainerResponse,
  ExecSyncRequest,
  PullImageRequest,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  StartContainerRequest,
  StopContainerRequest,
  UpdateContainerResourcesRequest,
  UpdatePodSandboxResourcesRequest,
} from '../../../src/wire/gen/cri-runtime-v1.ts';
import type { MessageType } from '../../../src/wire/message.ts';
import type { SeenCall } from '../../lab/cri-proxy.ts';
import { type RecordedLife, recordedMessage } from '../lives.ts';
import { flatten } from './items.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A call, complete as it went over the wire. */
export interface RuntimeCall {
  readonly call: string;
  readonly request: Fields;
  /** The id of what it made. */
  readonly made: string | undefined;
}

const REQUESTS: Readonly<Record<string, MessageType<unknown>>> = {
  RunPodSandbox: RunPodSandboxRequest,
  CreateContainer: CreateContainerRequest,
  StartContainer: StartContainerRequest,
  StopContainer: StopContainerRequest,
  ExecSync: ExecSyncRequest,
  PullImage: PullImageRequest,
  UpdateContainerResources: UpdateContainerResourcesRequest,
  UpdatePodSandboxResources: UpdatePodSandboxResourcesRequest,
};
/** Asked again and again, at a pace that the load of the machine sets: how often is not compared. */
const REPEATED: ReadonlySet<string> = new Set(['ExecSync', 'PullImage']);
const SERVICE = '/runtime.v1.';
const FRAME_PREFIX = 5;

export function recordedCalls({ cri }: RecordedLife): readonly RuntimeCall[] {
  return cri.flatMap(({ call, req, res }) => {
    const type = REQUESTS[call];
    if (type === undefined) return [];
    const { sandbox_config: config, ...rest } = req;
    const isNote = typeof config === 'string';
    const message = recordedMessage(type, isNote ? rest : req) as Fields;
    const id = call === 'RunPodSandbox' ? res?.['pod_sandbox_id'] : res?.['container_id'];
    return [
      {
        call,
        request: isNote ? { ...message, sandboxConfig: config } : message,
        made: id === undefined ? undefined : String(id),
      },
    ];
  });
}

/** What the recording says in the place of a sandbox's configuration that the runtime has been given before. */
const AS_BEFORE = '(as in RunPodSandbox)';

/** Of all that a proxy has seen, what was for this pod. */
export function seenCalls(calls: readonly SeenCall[], uid: string): readonly RuntimeCall[] {
  const own = new Set<string>();
  const sandboxes = new Map<string, string>();
  const found: RuntimeCall[] = [];
  for (const { path, request: bytes, answer } of calls) {
    const call = path.startsWith(SERVICE) ? (path.split('/').at(-1) ?? '') : '';
    const type = REQUESTS[call];
    if (type === undefined) continue;
    const request = decode(type, bytes.subarray(FRAME_PREFIX)) as Fields;
    const config = (call === 'RunPodSandbox' ? request['config'] : request['sandboxConfig']) as
      | SandboxConfig
      | undefined;
    const isOwn =
      config?.metadata === undefined
        ? own.has(String(request['containerId'] ?? request['podSandboxId']))
        : config.metadata.uid === uid;
    if (!isOwn) continue;
    const made = answer === undefined ? undefined : madeBy(call, answer);
    if (made !== undefined) own.add(made);
    if (made !== undefined && call === 'RunPodSandbox') sandboxes.set(made, flatten(plain(config)).join('\n'));
    const isBefore =
      call === 'CreateContainer' &&
      sandboxes.get(String(request['podSandboxId'])) === flatten(plain(request['sandboxConfig'])).join('\n');
    found.push({ call, request: isBefore ? { ...request, sandboxConfig: AS_BEFORE } : request, made });
  }
  return found;
}

interface SandboxConfig {
  readonly metadata?: { readonly uid: string };
}

function madeBy(call: string, answer: Buffer): string | undefined {
  // An error has no message.
  if (answer.length <= FRAME_PREFIX) return undefined;
  const message = answer.subarray(FRAME_PREFIX);
  if (call === 'RunPodSandbox') return decode(RunPodSandboxResponse, message).podSandboxId;
  return decode(CreateContainerResponse, message).containerId;
}

/** `c#1 CreateContainer config.linux.resources.cpuQuota: 35000`: the container and how often it was made before, the call, the value. */
export function requestLines(calls: readonly RuntimeCall[]): readonly string[] {
  const titles = new Map<string, string>();
  const lines = new Map<string, string[]>();
  for (const one of calls) {
    const title = titleOf(one, titles);
    const own = lines.get(title) ?? [];
    lines.set(title, own);
    const fresh = linesOf(one).map((line) => `${title} ${one.call}${line === '' ? '' : ` ${line}`}`);
    if (!REPEATED.has(one.call) || fresh.some((line) => !own.includes(line))) own.push(...fresh);
  }
  return [...lines.keys()].sort().flatMap((title) => lines.get(title) ?? []);
}

function titleOf({ call, request, made }: RuntimeCall, titles: Map<string, string>): string {
  const { metadata } = (request['config'] ?? {}) as { metadata?: { name: string; attempt: number } };
  if (metadata === undefined) {
    return titles.get(String(request['containerId'] ?? request['podSandboxId'])) ?? 'pod';
  }
  const title = `${call === 'RunPodSandbox' ? 'sandbox' : metadata.name}#${metadata.attempt}`;
  if (made !== undefined) titles.set(made, title);
  return title;
}

/** Of containers and sandboxes there is one of a name: their ids say nothing. What is empty is left out. */
function linesOf({ request }: RuntimeCall): readonly string[] {
  const { containerId: _id, podSandboxId: _sandbox, ...rest } = request;
  const lines = flatten(plain(rest) ?? {});
  return lines.length === 0 ? [''] : lines;
}

/** Variables, DNS options and huge pages have no order, maps none either; bytes are text, and zero is what was not said. */
function plain(value: unknown, key = ''): unknown {
  if (value instanceof Uint8Array) return new TextDecoder().decode(value) || undefined;
  if (typeof value === 'bigint') return value === 0n ? undefined : String(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => plain(item));
    if (key === 'envs') return items.map((item) => envText(item as Fields)).sort();
    if (key === 'hugepageLimits') return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    if (key === 'options') return items.map(String).sort();
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== 'object' || value === null) return isZero(value) ? undefined : value;
  const entries = Object.entries(value).map(([name, one]) => [name, plain(one, name)] as const);
  const said = entries.filter(([, one]) => one !== undefined);
  return said.length === 0 ? undefined : Object.fromEntries(said);
}

const envText = ({ key, value = '' }: Fields): string => `${String(key)}=${String(value)}`;

const isZero = (value: unknown): boolean =>
  value === undefined || value === null || value === 0 || value === '' || value === false;
