/** OpenAPI documents: what kubectl needs for validation by the server, for patches, and for `kubectl explain`. */
import { ANYTHING, type FieldKind, type StructKind, struct } from '../../api/object-schema.ts';
import { ELSEWHERE, groupVersion, RESOURCES, type Resource } from './resources.ts';
import { MERGE_KEYS } from './strategic-patch.ts';

export interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

type Described = Omit<Resource, 'keeping' | 'subresources'>;

/** Of kinds that need a control plane nothing is known but that the server checks them, and then refuses. */
const DESCRIBED: readonly Described[] = [
  ...RESOURCES,
  ...ELSEWHERE.map((one) => ({ ...one, schema: struct({ metadata: ANYTHING, spec: ANYTHING }) })),
];
const versions = [...new Set(DESCRIBED.map(groupVersion))];
const pathOf = (version: string): string => (version.includes('/') ? `apis/${version}` : `api/${version}`);

export function openApiIndex(hash: string): OpenApiIndex {
  return {
    paths: Object.fromEntries(
      versions.map((version) => [
        pathOf(version),
        { serverRelativeURL: `/openapi/v3/${pathOf(version)}?hash=${hash}` },
      ]),
    ),
  };
}

/** Undefined: there is no such version. */
export function openApiDocument(path: string): object | undefined {
  const resources = DESCRIBED.filter((resource) => pathOf(groupVersion(resource)) === path);
  if (resources.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'local API of a node' },
    paths: Object.fromEntries(resources.flatMap(pathsOf)),
    components: {
      schemas: Object.fromEntries(resources.map((resource) => [schemaName(resource), topSchema(resource)])),
    },
  };
}

/** `io.k8s.api.core.v1.Pod`. */
const schemaName = ({ group, version, kind }: Described): string =>
  `io.k8s.api.${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${version}.${kind}`;

const kindOf = ({ group, version, kind }: Described) => ({ group, version, kind });

function pathsOf(resource: Described): readonly (readonly [string, object])[] {
  const { plural, isNamespaced } = resource;
  const root = `/${pathOf(groupVersion(resource))}${isNamespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
  const schema = { $ref: `#/components/schemas/${schemaName(resource)}` };
  const content = { 'application/json': { schema } };
  const query = (name: string, type = 'string') => ({ name, in: 'query', schema: { type, uniqueItems: true } });
  const writing = [query('dryRun'), query('fieldManager'), query('fieldValidation')];
  const action = (name: string, parameters: readonly object[]) => ({
    parameters,
    responses: { 200: { description: 'OK', content } },
    'x-kubernetes-action': name,
    'x-kubernetes-group-version-kind': kindOf(resource),
  });
  return [
    [root, { get: action('list', []), post: { ...action('post', writing), requestBody: { content } } }],
    [
      `${root}/{name}`,
      {
        get: action('get', []),
        put: { ...action('put', writing), requestBody: { content } },
        patch: action('patch', [...writing, query('force', 'boolean')]),
        delete: action('delete', [query('dryRun')]),
      },
    ],
  ];
}

function topSchema(resource: Described): object {
  return {
    ...structSchema(resource.schema),
    description: `${resource.kind}: the fields that this node knows.`,
    'x-kubernetes-group-version-kind': [kindOf(resource)],
  };
}

function structSchema({ fields }: StructKind): object {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, fieldSchema(name, kind)])),
  };
}

function fieldSchema(name: string, kind: FieldKind): object {
  switch (kind.kind) {
    case 'string':
      return { type: 'string' };
    case 'bool':
      return { type: 'boolean' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: kind.kind };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'quantity':
      return { oneOf: [{ type: 'string' }, { type: 'number' }] };
    case 'intOrString':
      return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
    case 'anything':
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    case 'map':
      return { type: 'object', additionalProperties: fieldSchema('', kind.item) };
    case 'list':
      return { type: 'array', items: fieldSchema('', kind.item), ...listMeaning(name, kind.item) };
    case 'struct':
      return structSchema(kind);
  }
}

function listMeaning(name: string, item: FieldKind): object {
  const key = Object.hasOwn(MERGE_KEYS, name) ? MERGE_KEYS[name] : undefined;
  if (key === undefined || item.kind !== 'struct') return { 'x-kubernetes-list-type': 'atomic' };
  return {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [key],
    'x-kubernetes-patch-merge-key': key,
    'x-kubernetes-patch-strategy': name === 'volumes' ? 'merge,retainKeys' : 'merge',
  };
}

/**
 * The second version of OpenAPI, in its protobuf form, with no definitions: clients that are too old for the third validate nothing
 * by themselves then, and the server does.
 */
export function oldOpenApi(): Uint8Array {
  const text = new TextEncoder();
  const field = (number: number, content: Uint8Array): number[] => [(number << 3) | 2, content.length, ...content];
  const info = Uint8Array.from([...field(1, text.encode('Kubernetes')), ...field(2, text.encode('local'))]);
  return Uint8Array.from([
    ...field(1, text.encode('2.0')),
    ...field(2, info),
    ...field(8, new Uint8Array()),
    ...field(9, new Uint8Array()),
  ]);
}
