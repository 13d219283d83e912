/** The objects of the API server that pods refer to, in the forms in which requests, images and volumes ask for them. */
import type { KubeNode } from '../api/node.ts';
import { randomHex } from '../base/random.ts';
import type { Config } from '../config/config.ts';
import type { CredentialObjects } from '../images/ports.ts';
import type { Kube } from '../kube/kube.ts';
import type { RecordEvent } from '../model/event.ts';
import { objectsForImages } from '../objects/for-images.ts';
import { objectsForRequests } from '../objects/for-requests.ts';
import { createObjects, type Objects } from '../objects/objects.ts';
import { objectsConfig, ownNodeFacts } from '../objects/settings.ts';
import type { ObjectsPort } from '../runtime/ports.ts';
import type { PartDeps } from './compose.ts';

export interface ObjectTools {
  /** Undefined: standalone. */
  readonly kube: Kube | undefined;
  readonly record: RecordEvent;
  /** This node's object, where it is known. */
  readonly node: () => KubeNode | undefined;
}

export interface ObjectParts {
  /** Undefined for a kubelet without an API server. */
  readonly objects: Objects | undefined;
  readonly requests: ObjectsPort;
  readonly credentials: CredentialObjects | undefined;
}

export function composeObjects(config: Config, deps: PartDeps, { kube, record, node }: ObjectTools): ObjectParts {
  if (kube === undefined) {
    return { objects: undefined, requests: objectsForRequests(undefined), credentials: undefined };
  }
  const { clock, log, supervisor, nodeName } = deps;
  const objects = createObjects(
    {
      clock,
      log,
      supervisor,
      kube,
      record,
      ...ownNodeFacts(kube.general, nodeName, node),
      random: Math.random,
      salt: randomHex(16),
    },
    objectsConfig(config, nodeName),
  );
  return { objects, requests: objectsForRequests(objects), credentials: objectsForImages(objects, log) };
}
