import { type Findings, listed, oneOf, problem, warning } from './finding.ts';
import { suggestion } from './nearest.ts';
import { insecureCipherSuites, secureCipherSuites, tlsCurves, tlsVersions } from './tls-names.ts';
import type { ValidationInput } from './validation-input.ts';

const cipherSuites: readonly string[] = [...secureCipherSuites, ...insecureCipherSuites];
const http2CipherSuites: readonly string[] = [
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
];

function isCipherSuite(name: string): boolean {
  return cipherSuites.includes(name);
}

export function* validateTls(input: ValidationInput): Findings {
  const { tlsMinVersion, tlsCipherSuites } = input.kubelet;
  if (tlsMinVersion !== '') yield* oneOf('tlsMinVersion', tlsMinVersion, tlsVersions);
  yield* validateCipherSuites(tlsCipherSuites);
  yield* validateHttp2Cipher(input);
  if (tlsMinVersion === 'VersionTLS13' && tlsCipherSuites.length > 0) {
    yield warning('tlsCipherSuites', tlsCipherSuites, 'does nothing with tlsMinVersion VersionTLS13');
  }
  yield* validateCurves(input.kubelet.tlsCurvePreferences);
  yield* validateServingCertificate(input);
}

function* validateCipherSuites(names: readonly string[]): Findings {
  const insecure: readonly string[] = insecureCipherSuites;
  for (const [index, name] of names.entries()) {
    const path = `tlsCipherSuites[${index}]`;
    if (!isCipherSuite(name)) {
      const hint = suggestion(name, cipherSuites);
      yield problem(path, name, `is not a cipher suite; the good ones are ${secureCipherSuites.join(', ')}${hint}`);
    } else if (insecure.includes(name)) {
      yield warning(path, name, 'is not secure');
    }
  }
}

/** HTTP/2 over TLS 1.2 needs one of two suites, and the reference's server exits if both are missing. */
function* validateHttp2Cipher({ kubelet }: ValidationInput): Findings {
  const { enableServer, tlsCipherSuites: names, tlsMinVersion } = kubelet;
  const isAsked = enableServer && names.length > 0 && tlsMinVersion !== 'VersionTLS13';
  if (!isAsked || names.some((name) => !isCipherSuite(name) || http2CipherSuites.includes(name))) return;
  yield problem('tlsCipherSuites', names, `must hold ${listed(http2CipherSuites)}: HTTP/2 needs one of them`);
}

function* validateCurves(ids: readonly number[]): Findings {
  for (const [index, id] of ids.entries()) {
    const path = `tlsCurvePreferences[${index}]`;
    if (!tlsCurves.has(id)) {
      const known = [...tlsCurves].map(([number, name]) => `${number} (${name})`).join(', ');
      yield problem(path, id, `must be one of ${known}`);
    } else if (ids.indexOf(id) < index) {
      yield problem(path, id, 'must not be listed twice');
    }
  }
}

function* validateServingCertificate({ kubelet, features, settings }: ValidationInput): Findings {
  const { tlsCertFile, tlsPrivateKeyFile, serverTLSBootstrap } = kubelet;
  if (serverTLSBootstrap && !features.enabled('RotateKubeletServerCertificate')) {
    yield problem('serverTLSBootstrap', true, 'needs the feature gate RotateKubeletServerCertificate');
  }
  if (serverTLSBootstrap && settings.api.kubeconfig === '') {
    yield warning('serverTLSBootstrap', true, 'needs --kubeconfig: without it no one signs a certificate');
  }
  if (serverTLSBootstrap) return;
  const rule = 'is of no use alone: the server will have no certificate';
  if (tlsCertFile !== '' && tlsPrivateKeyFile === '')
    yield warning('tlsCertFile', tlsCertFile, `${rule} without tlsPrivateKeyFile`);
  if (tlsCertFile === '' && tlsPrivateKeyFile !== '')
    yield warning('tlsPrivateKeyFile', tlsPrivateKeyFile, `${rule} without tlsCertFile`);
}

/** Authentication and authorization: webhooks need an API server. */
export function* validateAccess({ kubelet, settings }: ValidationInput): Findings {
  const { authentication, authorization } = kubelet;
  const isStandalone = settings.api.kubeconfig === '';
  const needsKubeconfig = 'asks the API server, and without --kubeconfig there is none';
  if (authentication.webhook.enabled && isStandalone) {
    yield problem('authentication.webhook.enabled', true, needsKubeconfig);
  }
  const modes = ['AlwaysAllow', 'Webhook'];
  if (!modes.includes(authorization.mode)) {
    yield problem('authorization.mode', authorization.mode, `must be ${listed(modes)}`);
  } else if (authorization.mode === 'Webhook' && isStandalone) {
    yield problem('authorization.mode', authorization.mode, needsKubeconfig);
  }
}
