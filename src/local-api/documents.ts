/** What the local API answers beside objects: discovery, version, OpenAPI, health, and reviews of the caller itself. */
import { createHash } from 'node:crypto';
import type { Caller } from './rules/access.ts';
import {
  coreVersions,
  groupDocument,
  groupList,
  resourceList,
  type VersionInfo,
  versionDocument,
} from './rules/discovery.ts';
import { mapOf } from './rules/objects.ts';
import { oldOpenApi, openApiDocument, openApiIndex } from './rules/openapi.ts';

export type Document =
  | { readonly kind: 'json'; readonly body: unknown }
  | { readonly kind: 'bytes'; readonly type: string; readonly body: Uint8Array }
  | { readonly kind: 'review'; readonly answer: (body: unknown, caller: Caller) => unknown };

export interface Documents {
  find(path: string): Document | undefined;
}

/** Clients ask for it with an `@` in its name, which they then can't parse in the answer. */
const OLD_OPENAPI = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const OPENAPI = '/openapi/v3/';
const HASH_DIGITS = 16;

export function createDocuments(config: VersionInfo & { readonly address: string }): Documents {
  const json = (body: unknown): Document | undefined => (body === undefined ? undefined : { kind: 'json', body });
  const hash = createHash('sha256').update(config.version).digest('hex').slice(0, HASH_DIGITS);
  return {
    find: (given) => {
      const path = given.length > 1 && given.endsWith('/') ? given.slice(0, -1) : given;
      if (Object.hasOwn(REVIEWS, path)) return REVIEWS[path];
      switch (path) {
        case '/':
          return json({
            paths: ['/api', '/api/v1', '/apis', '/healthz', '/livez', '/openapi/v3', '/readyz', '/version'],
          });
        case '/version':
          return json(versionDocument(config));
        case '/healthz':
        case '/livez':
        case '/readyz':
          return { kind: 'bytes', type: 'text/plain; charset=utf-8', body: Buffer.from('ok') };
        case '/api':
          return json(coreVersions(config.address));
        case '/apis':
          return json(groupList());
        case '/openapi/v2':
          return { kind: 'bytes', type: OLD_OPENAPI, body: oldOpenApi() };
        case '/openapi/v3':
          return json(openApiIndex(hash));
        default:
          return json(deeper(path));
      }
    },
  };
}

function deeper(path: string): unknown {
  if (path.startsWith(OPENAPI)) return openApiDocument(path.slice(OPENAPI.length));
  const [root, ...steps] = path.slice(1).split('/');
  if (root === 'api' && steps.length === 1) return resourceList(steps[0] ?? '');
  if (root !== 'apis') return undefined;
  return steps.length === 1 ? groupDocument(steps[0] ?? '') : resourceList(steps.join('/'));
}

const MAY_READ = new Set(['get', 'list', 'watch']);

/** Whether the caller may do it, as `kubectl auth can-i` asks. */
function reviewAccess(body: unknown, { role }: Caller): unknown {
  const spec = mapOf(mapOf(body)['spec']);
  const { verb, resource, subresource } = mapOf(spec['resourceAttributes']);
  const isReading =
    MAY_READ.has(String(verb)) &&
    resource !== 'secrets' &&
    (subresource === undefined || subresource === '' || subresource === 'log');
  return {
    ...mapOf(body),
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    status: { allowed: role !== 'read-only' || isReading },
  };
}

function reviewSelf(_body: unknown, { name, groups }: Caller): unknown {
  return {
    kind: 'SelfSubjectReview',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {},
    status: { userInfo: { username: name, groups } },
  };
}

const REVIEWS: Readonly<Record<string, Document>> = {
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews': { kind: 'review', answer: reviewAccess },
  '/apis/authentication.k8s.io/v1/selfsubjectreviews': { kind: 'review', answer: reviewSelf },
};
