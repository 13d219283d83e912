import { judgeAll } from '../judge-testing.ts';
import { defaultSettings } from '../settings.ts';
import { insecureCipherSuites, secureCipherSuites, tlsCurves, tlsVersions } from './tls-names.ts';

const joined = { settings: { api: { ...defaultSettings.api, kubeconfig: '/etc/kubelet.conf' } } };
const asking = { authentication: { webhook: { enabled: true } }, authorization: { mode: 'Webhook' } };

for (const tlsMinVersion of tlsVersions) judgeAll({ [tlsMinVersion]: { config: { tlsMinVersion } } });

judgeAll({
  'every good cipher suite': { config: { tlsCipherSuites: secureCipherSuites } },
  'every bad cipher suite': {
    config: { tlsCipherSuites: [...insecureCipherSuites, 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'] },
    warnings: insecureCipherSuites.map((_, index) => `tlsCipherSuites[${index}]`),
  },
  'cipher suites that are not enough for HTTP/2': {
    config: { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] },
    problems: [/^tlsCipherSuites: must hold "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256" or /],
  },
  'the same without a server': {
    config: { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'], enableServer: false },
  },
  'cipher suite unknown': {
    config: { tlsCipherSuites: ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA38'] },
    problems: [/^tlsCipherSuites\[1\]: .*did you mean TLS_AES_256_GCM_SHA384\?/],
  },
  'cipher suites with TLS 1.3': {
    config: { tlsMinVersion: 'VersionTLS13', tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'] },
    warnings: [/^tlsCipherSuites: does nothing/],
  },
  'version unknown': { config: { tlsMinVersion: 'TLS1.2' }, problems: [/^tlsMinVersion: must be "VersionTLS10"/] },
  'every curve': { config: { tlsCurvePreferences: [...tlsCurves.keys()] } },
  'curves unknown and doubled': {
    config: { tlsCurvePreferences: [29, 0, 29, 9999] },
    problems: ['tlsCurvePreferences[1]', /\[2\]: must not be listed twice/, 'tlsCurvePreferences[3]'],
  },
  'certificate alone': { config: { tlsCertFile: '/a.crt' }, warnings: ['tlsCertFile'] },
  'key alone': { config: { tlsPrivateKeyFile: '/a.key' }, warnings: ['tlsPrivateKeyFile'] },
  'certificate and key': { config: { tlsCertFile: '/a.crt', tlsPrivateKeyFile: '/a.key' } },
  'bootstrap with an API server': { config: { serverTLSBootstrap: true }, around: joined },
  'bootstrap without one': { config: { serverTLSBootstrap: true }, warnings: ['serverTLSBootstrap'] },
  'bootstrap without the gate': {
    config: { serverTLSBootstrap: true },
    around: { ...joined, gates: { RotateKubeletServerCertificate: false } },
    problems: [/needs the feature gate RotateKubeletServerCertificate/],
  },
  'webhooks with an API server': { config: asking, around: joined },
  'webhooks without one': { config: asking, problems: ['authentication.webhook.enabled', 'authorization.mode'] },
  'authorization unknown': {
    config: { authorization: { mode: 'RBAC' } },
    problems: [/^authorization\.mode: must be "AlwaysAllow" or "Webhook"/],
  },
});
