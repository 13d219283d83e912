/** Registers this node with the API server: creates its object, or updates an existing one. */
import { apiPath, apiPathBelow } from '../api/api-path.ts';
import type { KubeNode } from '../api/node.ts';
import { nodeCondition } from '../api/node.ts';
import { codeOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { Kube } from '../kube/kube.ts';
import type { EventText } from '../model/event.ts';
import type { OwnNode } from './own-node.ts';
import { type ComputedNode, computeNode, type NodeSnapshot, statusEvent } from './rules/compute-node.ts';
import { initialNode, type NodeIdentity } from './rules/initial-node.ts';
import { computeNodePatch } from './rules/node-patch.ts';
import { reconcileNode } from './rules/reconcile.ts';
import { findWrongUser } from './rules/suspicions.ts';
import type { Warnings } from './warnings.ts';

export interface RegistrationDeps {
  readonly log: Logger;
  readonly random: () => number;
  readonly kube: Pick<Kube, 'general' | 'awaitsCertificate'>;
  readonly ownNode: OwnNode;
  readonly record: (event: EventText) => void;
  readonly warnings: Warnings;
  readonly snapshot: (signal: AbortSignal) => Promise<NodeSnapshot>;
  /** Waits this long, or until something has changed, such as the end of an outage of the API server. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface RegistrationConfig {
  readonly identity: NodeIdentity;
  /** The gate KubeletRegistrationGetOnExistsOnly: after a refused creation, an existing node is not read. */
  readonly getOnExistsOnly: boolean;
}

const NODES = apiPath`/api/v1/nodes`;
const WHO_AM_I = apiPath`/apis/authentication.k8s.io/v1/selfsubjectreviews`;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 7000;
const JITTER = 0.2;

/** Retries until it succeeds or `signal` aborts. */
export async function register(deps: RegistrationDeps, config: RegistrationConfig, signal: AbortSignal): Promise<void> {
  const { log, random } = deps;
  const node = config.identity.name;
  const attempt = createAttempt(deps, config);
  await waitForCertificate(deps, node, signal);
  for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
    log.info('Attempting to register node', { node });
    try {
      await attempt(signal);
      log.info('Successfully registered node', { node });
      return;
    } catch (error) {
      if (signal.aborted) throw error;
      log.error('Unable to register node with API server', { err: error, node });
    }
    await deps.pause(wait * (1 + JITTER * random()), signal);
  }
}

/** Until the node has one, each attempt could only fail: and somebody may have to approve it first. */
async function waitForCertificate({ log, kube, pause }: RegistrationDeps, node: string, signal: AbortSignal) {
  if (kube.awaitsCertificate?.() !== true) return;
  log.info('Node will be registered when its client certificate is issued', { node });
  while (kube.awaitsCertificate()) await pause(LONGEST_RETRY_MS, signal);
}

function createAttempt(deps: RegistrationDeps, config: RegistrationConfig) {
  const { log, ownNode, record } = deps;
  const client = deps.kube.general;
  const { name } = config.identity;
  let isReported = false;
  let isExplained = false;

  /** Records the first events and problems of this node, once for all attempts. */
  const report = ({ events, problems }: ComputedNode) => {
    if (isReported) return;
    isReported = true;
    for (const event of events) record(event);
    for (const problem of problems) log.error('Failed to set some node status fields', { err: problem, node: name });
  };

  const create = async (node: KubeNode, signal: AbortSignal): Promise<KubeNode> => {
    const { uid: _, ...metadata } = node.metadata;
    return await client.request<KubeNode>({ method: 'POST', path: NODES, body: { ...node, metadata } }, signal);
  };

  /** The user of the credentials mostly explains a refusal. */
  const explainRefusal = async (signal: AbortSignal): Promise<void> => {
    if (isExplained) return;
    isExplained = true;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    try {
      const request = { method: 'POST', path: WHO_AM_I, body } as const;
      const { status } = await client.request<{ status?: { userInfo?: { username?: string } } }>(request, signal);
      const username = status?.userInfo?.username;
      if (username !== undefined) deps.warnings.report('WrongCredentials', findWrongUser(username, name));
    } catch (error) {
      log.v(2)?.info("Failed to get the user of the kubeconfig's credentials from the API server", { err: error });
    }
  };

  return async (signal: AbortSignal): Promise<void> => {
    const computed = computeNode(initialNode(config.identity), await deps.snapshot(signal));
    report(computed);
    try {
      const made = await create(computed.node, signal);
      ownNode.note(made);
      if (nodeCondition(made, 'Ready')?.status === 'True') record(statusEvent(name, 'NodeReady'));
      return;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'denied') await explainRefusal(signal);
      const mayExist = code === 'exists' || (code === 'denied' && !config.getOnExistsOnly);
      if (!mayExist) throw error;
      await reconcile(deps, computed.node, error, signal);
    }
  };
}

async function reconcile(
  { log, kube, ownNode }: RegistrationDeps,
  desired: KubeNode,
  refusal: unknown,
  signal: AbortSignal,
): Promise<void> {
  const path = apiPathBelow(NODES, desired.metadata.name);
  const existing = await kube.general.request<KubeNode>({ method: 'GET', path }, signal).catch((error: unknown) => {
    throw codeOf(refusal) === 'denied' ? refusal : error;
  });
  log.info('Node was previously registered', { node: desired.metadata.name });
  // The same name on another machine: its devices are not those of the recorded extended resources.
  const resetExtended = existing.status?.nodeInfo?.machineID !== desired.status?.nodeInfo?.machineID;
  const patch = computeNodePatch(existing, reconcileNode(existing, desired, { resetExtended }));
  if (patch === undefined) {
    ownNode.note(existing);
    return;
  }
  const request = { method: 'PATCH', path: apiPathBelow(path, 'status'), patch: 'strategic', body: patch } as const;
  ownNode.note(await kube.general.request<KubeNode>(request, signal));
}
