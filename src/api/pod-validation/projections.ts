/** The sources of a projected volume. */
import type { VolumeProjection } from '../volume.ts';
import type { Faults } from './faults.ts';
import { volumeFilePath } from './text-rules.ts';
import { checkDownwardFiles, checkKeys } from './volume-files.ts';

const SHORTEST_TOKEN_SECONDS = 600;
const LONGEST_TOKEN_SECONDS = 2 ** 32;
const SHORTEST_CERTIFICATE_SECONDS = 3600;
const LONGEST_CERTIFICATE_SECONDS = 91 * 86_400;
const KEY_TYPES = ['ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519', 'RSA3072', 'RSA4096'];

export function checkProjections(sources: readonly VolumeProjection[], path: string, faults: Faults): void {
  const taken = new Set<string>();
  sources.forEach((source, index) => {
    const at = `${path}.sources[${index}]`;
    if (Object.values(source).filter((kind) => kind !== undefined).length > 1) {
      faults.forbidden(at, 'may not specify more than 1 volume type per source');
    }
    checkObjects(source, at, faults);
    checkToken(source, at, faults);
    checkBundle(source, at, faults);
    checkCertificate(source, at, faults);
    for (const file of filesOf(source)) {
      if (taken.has(file)) faults.invalid(at, file, 'conflicting duplicate paths');
      taken.add(file);
    }
  });
}

function checkObjects({ secret, configMap, downwardAPI }: VolumeProjection, path: string, faults: Faults): void {
  for (const [kind, object] of [
    ['secret', secret],
    ['configMap', configMap],
  ] as const) {
    if (object === undefined) continue;
    if (!object.name) faults.required(`${path}.${kind}.name`);
    checkKeys(object, `${path}.${kind}`, faults);
  }
  if (downwardAPI !== undefined) checkDownwardFiles(downwardAPI.items ?? [], `${path}.downwardAPI.items`, faults);
}

function checkToken({ serviceAccountToken: token }: VolumeProjection, parent: string, faults: Faults): void {
  if (token === undefined) return;
  const path = `${parent}.serviceAccountToken`;
  const seconds = token.expirationSeconds ?? 0;
  if (seconds < SHORTEST_TOKEN_SECONDS) {
    faults.invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes');
  }
  if (seconds > LONGEST_TOKEN_SECONDS) {
    faults.invalid(`${path}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  faults.requiredText(`${path}.path`, token.path, volumeFilePath);
}

function checkBundle({ clusterTrustBundle: bundle }: VolumeProjection, parent: string, faults: Faults): void {
  if (bundle === undefined) return;
  const path = `${parent}.clusterTrustBundle`;
  const { name, signerName, labelSelector } = bundle;
  if (name === undefined && signerName === undefined) {
    faults.required(path, 'either name or signerName must be specified');
  } else if (name !== undefined && signerName !== undefined) {
    faults.invalid(path, name, 'only one of name and signerName may be used');
  } else if (name === '') faults.required(`${path}.name`, 'must be a valid object name');
  else if (signerName === '') faults.required(`${path}.signerName`, 'must be a valid signer name');
  if (name !== undefined && labelSelector !== undefined) {
    faults.invalid(`${path}.labelSelector`, '', 'labelSelector must be unset if name is specified');
  }
  faults.requiredText(`${path}.path`, bundle.path, volumeFilePath);
}

interface Certificate {
  readonly signerName?: string;
  readonly keyType?: string;
  readonly maxExpirationSeconds?: number;
  readonly credentialBundlePath?: string;
  readonly keyPath?: string;
  readonly certificateChainPath?: string;
}

const CERTIFICATE_PATHS = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;

function checkCertificate({ podCertificate }: VolumeProjection, parent: string, faults: Faults): void {
  if (podCertificate === undefined) return;
  const certificate = podCertificate as Certificate;
  const path = `${parent}.podCertificate`;
  if (!certificate.signerName) faults.required(`${path}.signerName`);
  if (!KEY_TYPES.includes(certificate.keyType ?? '')) {
    faults.unsupported(`${path}.keyType`, certificate.keyType ?? '', KEY_TYPES);
  }
  const seconds = certificate.maxExpirationSeconds;
  faults.range(`${path}.maxExpirationSeconds`, seconds, SHORTEST_CERTIFICATE_SECONDS, LONGEST_CERTIFICATE_SECONDS);
  for (const field of CERTIFICATE_PATHS) faults.optionalText(`${path}.${field}`, certificate[field], volumeFilePath);
  if (CERTIFICATE_PATHS.every((field) => !certificate[field])) {
    faults.required(path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath');
  }
}

/** The files that a source puts into the volume. */
function filesOf(source: VolumeProjection): readonly string[] {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  const certificate = (source.podCertificate ?? {}) as Certificate;
  const items = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])];
  const paths = [
    ...items.map((item) => item.path),
    serviceAccountToken?.path,
    clusterTrustBundle?.path,
    ...CERTIFICATE_PATHS.map((field) => certificate[field]),
  ];
  return paths.filter((path): path is string => Boolean(path));
}
